package dev.doorbell.doctor.report;

import dev.doorbell.doctor.Ability;
import dev.doorbell.doctor.Diagnosis;
import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.HostFacts;
import dev.doorbell.doctor.facts.PeerReport;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints a diagnosis for programs; {@link PeerReport} reads the ports of it. */
public final class JsonReport {
  private JsonReport() {}

  /** Plain maps, lists, words and numbers, ready to be written. */
  public static Map<String, Object> of(Diagnosis diagnosis) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("machine", machine(diagnosis.facts().host()));
    report.put("findings", diagnosis.findings().stream().map(JsonReport::finding).toList());
    report.put("topology", diagnosis.topology().paths().stream().map(JsonReport::path).toList());
    report.put("ports", ports(diagnosis.facts()));
    report.put("abilities", diagnosis.abilities().stream().map(JsonReport::ability).toList());
    Map<String, Long> counts = new LinkedHashMap<>();
    for (CheckVerdict verdict : CheckVerdict.values()) {
      counts.put(word(verdict), diagnosis.count(verdict));
    }
    report.put("counts", counts);
    return report;
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static Map<String, Object> machine(HostFacts host) {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("kernel", host.kernel());
    machine.put("cpu", host.cpuModel());
    machine.put("numaNodes", host.numaNodes());
    machine.put("virtualMachine", host.virtualMachine());
    machine.put("container", host.container());
    return machine;
  }

  private static Map<String, Object> finding(CheckResult finding) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("code", finding.code().id());
    object.put("verdict", word(finding.verdict()));
    object.put("title", finding.code().title());
    object.put("where", finding.where());
    object.put("what", finding.what());
    object.put("effect", finding.code().effect());
    object.put("fix", finding.code().fix());
    return object;
  }

  private static Map<String, Object> path(PciTopology.Path path) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("gpu", path.gpu().address());
    object.put("hca", path.hca().name());
    object.put("distance", path.distance().name());
    object.put("travelled", path.travelled().name());
    return object;
  }

  private static List<Map<String, Object>> ports(Facts facts) {
    List<Map<String, Object>> ports = new ArrayList<>();
    for (RdmaDevice hca : facts.hcas()) {
      for (RdmaPort port : hca.ports()) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("device", hca.name());
        object.put("port", port.number());
        object.put("linkLayer", port.linkLayer());
        object.put("state", port.state());
        object.put("gigabits", port.gigabits());
        object.put("mtu", port.mtu());
        object.put("roceV2Ipv4", PeerReport.Port.of(hca, port).ipv4());
        object.put("gids", port.gids().stream().map(JsonReport::gid).toList());
        ports.add(object);
      }
    }
    return ports;
  }

  private static Map<String, Object> gid(RdmaPort.GidEntry gid) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("index", gid.index());
    object.put("value", gid.value());
    object.put("type", gid.type());
    return object;
  }

  private static Map<String, Object> ability(Ability ability) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", ability.name());
    object.put("answer", word(ability.answer()));
    object.put("obstacle", ability.obstacle().map(Code::id).orElse(""));
    return object;
  }
}
