package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.RdmaPort;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** RDMA MTU of RoCE ports, here and at the peer. */
final class MtuCheck implements Check {
  private static final int LARGEST = 4096;
  private static final String HOW =
      "mtu of the port's Ethernet interface less 96 bytes of headers, as the kernel computes the"
          + " active MTU of RoCE.";
  private static final String HANG = "https://github.com/NVIDIA/nccl/issues/1957";

  static final Code LARGE =
      Code.pass("DB-MTU-01", "RDMA MTU is 4096", HOW, "Packets are as large as they can be.");
  static final Code SMALL =
      Code.warn(
          "DB-MTU-02",
          "RDMA MTU is below 4096",
          HOW,
          "More packets for the same bytes; at 1024 the packet rate of some NICs is the bound. A"
              + " library that assumes 4096 hangs without a word.",
          "ip link set DEV mtu 9000 (4200 is enough), on both hosts and on every switch between",
          HANG);
  static final Code DIFFERENT =
      Code.fail(
          "DB-MTU-03",
          "the two hosts have different RDMA MTUs",
          HOW + " The other host's is in its report (--peer).",
          "Verbs programs that exchange the MTU use the smaller one; those that do not lose every"
              + " packet that is larger: a silent hang.",
          "set the same MTU on both hosts and on every switch between",
          "https://github.com/NVIDIA/nccl/issues/2255",
          HANG);
  static final Code OTHER_LAYER =
      Code.fail(
          "DB-MTU-04",
          "the two hosts have different link layers",
          "link_layer of the active ports, here and in the other host's report (--peer).",
          "Ethernet and InfiniBand ports cannot connect; NCCL warns of incompatible devices.",
          "choose NICs of one link layer on both: NCCL_IB_HCA, NVSHMEM_HCA_LIST",
          "NVIDIA/nccl: src/transport/net_ib/connect.cc (2.30.7)");
  static final Code OTHER_FAMILY =
      Code.warn(
          "DB-MTU-05",
          "one host has an IPv4 GID, the other has none",
          "RoCE v2 GIDs with an IPv4 address, here and in the other host's report (--peer).",
          "Libraries choose GIDs of different families, and the connection cannot be routed.",
          "give both interfaces IPv4 addresses; or NCCL_IB_ADDR_FAMILY=AF_INET6 on both",
          "https://github.com/NVIDIA/nccl/issues/890");
  static final Code ALIKE =
      Code.pass(
          "DB-MTU-06",
          "both hosts have the same link layer and MTU",
          "Active ports, here and in the other host's report (--peer).",
          "They can connect as far as ports go.");

  @Override
  public List<Code> codes() {
    return List.of(LARGE, SMALL, DIFFERENT, OTHER_LAYER, OTHER_FAMILY, ALIKE);
  }

  /** The doctor's report gives a port in the same words, see {@link Peer}. */
  static Peer.Port describe(RdmaDevice hca, RdmaPort port) {
    return new Peer.Port(
        hca.name() + ":" + port.number(),
        port.linkLayer(),
        port.active(),
        port.mtu(),
        port.gids().stream().anyMatch(gid -> gid.version2() && gid.ipv4()));
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    for (RdmaDevice hca : patient.facts().hcas()) {
      for (RdmaPort port : hca.ports()) {
        if (port.active() && port.mtu() > 0) {
          found.accept(
              new Finding(
                  port.mtu() == LARGEST ? LARGE : SMALL,
                  hca.name() + ":" + port.number(),
                  "%d (%s has %d)"
                      .formatted(port.mtu(), port.netdev().orElse(""), port.netdevMtu())));
        }
      }
    }
    patient.peer().ifPresent(peer -> compare(patient, peer, found));
  }

  private static void compare(Case patient, Peer peer, Consumer<Finding> found) {
    List<Peer.Port> here =
        patient.facts().hcas().stream()
            .flatMap(hca -> hca.ports().stream().map(port -> describe(hca, port)))
            .filter(Peer.Port::active)
            .toList();
    List<Peer.Port> there = peer.active();
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
      found.accept(
          new Finding(
              OTHER_LAYER,
              peer.source(),
              "here %s, there %s"
                  .formatted(String.join(" ", layers), String.join(" ", otherLayers))));
    }
    if (!mtus.isEmpty() && !otherMtus.isEmpty() && !mtus.equals(otherMtus)) {
      alike = false;
      found.accept(
          new Finding(
              DIFFERENT,
              peer.source(),
              "here %s, there %s".formatted(text(mtus), text(otherMtus))));
    }
    boolean ipv4 = here.stream().anyMatch(Peer.Port::ipv4);
    boolean otherIpv4 = there.stream().anyMatch(Peer.Port::ipv4);
    if (layers.contains("Ethernet") && otherLayers.contains("Ethernet") && ipv4 != otherIpv4) {
      alike = false;
      found.accept(
          new Finding(
              OTHER_FAMILY,
              peer.source(),
              ipv4 ? "IPv4 here, none there" : "none here, IPv4 there"));
    }
    if (alike) {
      found.accept(
          new Finding(
              ALIKE,
              peer.source(),
              mtus.isEmpty()
                  ? String.join(" ", layers)
                  : "%s, MTU %s".formatted(String.join(" ", layers), text(mtus))));
    }
  }

  private static Set<String> words(List<Peer.Port> ports) {
    Set<String> words = new TreeSet<>();
    ports.forEach(port -> words.add(port.linkLayer()));
    return words;
  }

  private static Set<Integer> mtus(List<Peer.Port> ports) {
    Set<Integer> mtus = new TreeSet<>();
    ports.stream().mapToInt(Peer.Port::mtu).filter(mtu -> mtu > 0).forEach(mtus::add);
    return mtus;
  }

  private static String text(Set<Integer> mtus) {
    return String.join(" and ", mtus.stream().map(mtu -> Integer.toString(mtu)).toList());
  }
}
