package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PeerReport;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** RDMA MTU of RoCE ports, here and at the peer. */
final class MtuCheck implements Check {
  private static final int LARGEST = 4096;

  private static final Code LARGE = Code.of("DB-MTU-01");
  private static final Code SMALL = Code.of("DB-MTU-02");
  private static final Code DIFFERENT = Code.of("DB-MTU-03");
  private static final Code OTHER_LAYER = Code.of("DB-MTU-04");
  private static final Code OTHER_FAMILY = Code.of("DB-MTU-05");
  private static final Code ALIKE = Code.of("DB-MTU-06");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    for (RdmaDevice hca : machine.facts().hcas()) {
      for (RdmaPort port : hca.ports()) {
        if (port.active() && port.mtu() > 0) {
          found.add(
              port.mtu() == LARGEST ? LARGE : SMALL,
              hca.name() + ":" + port.number(),
              "%d (%s has %d)".formatted(port.mtu(), port.netdev().orElse(""), port.netdevMtu()));
        }
      }
    }
    machine.peer().ifPresent(peer -> compare(machine, peer, found));
  }

  private static void compare(CheckedMachine machine, PeerReport peer, CheckResults found) {
    List<PeerReport.Port> here =
        machine.facts().hcas().stream()
            .flatMap(hca -> hca.ports().stream().map(port -> PeerReport.Port.of(hca, port)))
            .filter(PeerReport.Port::active)
            .toList();
    List<PeerReport.Port> there = peer.active();
    if (here.isEmpty() || there.isEmpty()) {
      return;
    }
    Set<String> layers = words(here);
    Set<String> otherLayers = words(there);
    Set<Integer> mtus = mtus(here);
    Set<Integer> otherMtus = mtus(there);
    boolean alike = true;
    if (!layers.equals(otherLayers)) {
      alike = false;
      found.add(
          OTHER_LAYER,
          peer.source(),
          "here %s, there %s".formatted(String.join(" ", layers), String.join(" ", otherLayers)));
    }
    if (!mtus.isEmpty() && !otherMtus.isEmpty() && !mtus.equals(otherMtus)) {
      alike = false;
      found.add(
          DIFFERENT, peer.source(), "here %s, there %s".formatted(text(mtus), text(otherMtus)));
    }
    boolean ipv4 = here.stream().anyMatch(PeerReport.Port::ipv4);
    boolean otherIpv4 = there.stream().anyMatch(PeerReport.Port::ipv4);
    if (layers.contains("Ethernet") && otherLayers.contains("Ethernet") && ipv4 != otherIpv4) {
      alike = false;
      found.add(
          OTHER_FAMILY, peer.source(), ipv4 ? "IPv4 here, none there" : "none here, IPv4 there");
    }
    if (alike) {
      found.add(
          ALIKE,
          peer.source(),
          mtus.isEmpty()
              ? String.join(" ", layers)
              : "%s, MTU %s".formatted(String.join(" ", layers), text(mtus)));
    }
  }

  private static Set<String> words(List<PeerReport.Port> ports) {
    Set<String> words = new TreeSet<>();
    ports.forEach(port -> words.add(port.linkLayer()));
    return words;
  }

  private static Set<Integer> mtus(List<PeerReport.Port> ports) {
    Set<Integer> mtus = new TreeSet<>();
    ports.stream().mapToInt(PeerReport.Port::mtu).filter(mtu -> mtu > 0).forEach(mtus::add);
    return mtus;
  }

  private static String text(Set<Integer> mtus) {
    return String.join(" and ", mtus.stream().map(mtu -> Integer.toString(mtu)).toList());
  }
}
