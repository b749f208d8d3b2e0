package dev.doorbell.doctor.report;

import dev.doorbell.doctor.Diagnosis;
import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.HostFacts;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A diagnosis for programs, named as it is printed. */
public record JsonReport(
    Machine machine,
    List<Finding> findings,
    List<Distance> topology,
    List<Port> ports,
    List<Able> abilities,
    Map<String, Long> counts) {
  private record Machine(
      String kernel, String cpu, int numaNodes, boolean virtualMachine, boolean container) {}

  private record Finding(
      String code,
      String verdict,
      String title,
      String where,
      String what,
      String effect,
      String fix) {}

  private record Distance(String gpu, String hca, String distance, String travelled) {}

  private record Port(
      String device,
      int port,
      String linkLayer,
      String state,
      double gigabits,
      int mtu,
      boolean roceV2Ipv4,
      List<RdmaPort.GidEntry> gids) {}

  private record Able(String name, String answer, String obstacle) {}

  /** Returns the report of a diagnosis, ready to be written. */
  public static JsonReport of(Diagnosis diagnosis) {
    HostFacts host = diagnosis.facts().host();
    Map<String, Long> counts = new LinkedHashMap<>();
    for (CheckVerdict verdict : CheckVerdict.values()) {
      counts.put(word(verdict), diagnosis.count(verdict));
    }
    return new JsonReport(
        new Machine(
            host.kernel(),
            host.cpuModel(),
            host.numaNodes(),
            host.virtualMachine(),
            host.container()),
        diagnosis.findings().stream().map(JsonReport::finding).toList(),
        diagnosis.topology().paths().stream()
            .map(
                path ->
                    new Distance(
                        path.gpu().address(),
                        path.hca().name(),
                        path.distance().name(),
                        path.travelled().name()))
            .toList(),
        diagnosis.facts().hcas().stream()
            .flatMap(hca -> hca.ports().stream().map(port -> port(hca, port)))
            .toList(),
        diagnosis.abilities().stream()
            .map(
                ability ->
                    new Able(
                        ability.name(),
                        word(ability.answer()),
                        ability.obstacle().map(Code::id).orElse("")))
            .toList(),
        counts);
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static Finding finding(CheckResult finding) {
    Code code = finding.code();
    return new Finding(
        code.id(),
        word(finding.verdict()),
        code.title(),
        finding.where(),
        finding.what(),
        code.effect(),
        code.fix());
  }

  private static Port port(RdmaDevice hca, RdmaPort port) {
    return new Port(
        hca.name(),
        port.number(),
        port.linkLayer(),
        port.state(),
        port.gigabits(),
        port.mtu(),
        port.gids().stream().anyMatch(gid -> gid.version2() && gid.ipv4()),
        port.gids());
  }
}
