package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import dev.doorbell.experiments.doctor.facts.Gid;
import dev.doorbell.experiments.doctor.facts.Host;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.RdmaPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A diagnosis for programs; {@link Peer} reads the ports of it. */
public final class JsonReport {
  private JsonReport() {}

  /** Plain maps, lists, words and numbers, ready to be written. */
  public static Map<String, Object> of(Diagnosis diagnosis) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("machine", machine(diagnosis.facts().host()));
    report.put("findings", diagnosis.findings().stream().map(JsonReport::finding).toList());
    report.put("topology", diagnosis.topology().ways().stream().map(JsonReport::way).toList());
    report.put("ports", ports(diagnosis.facts()));
    report.put("abilities", diagnosis.abilities().stream().map(JsonReport::ability).toList());
    Map<String, Long> counts = new LinkedHashMap<>();
    for (Verdict verdict : Verdict.values()) {
      counts.put(word(verdict), diagnosis.count(verdict));
    }
    report.put("counts", counts);
    return report;
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static Map<String, Object> machine(Host host) {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("kernel", host.kernel());
    machine.put("cpu", host.cpuModel());
    machine.put("numaNodes", host.numaNodes());
    machine.put("virtualMachine", host.virtualMachine());
    machine.put("container", host.container());
    return machine;
  }

  private static Map<String, Object> finding(Finding finding) {
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

  private static Map<String, Object> way(Topology.Way way) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("gpu", way.gpu().address());
    object.put("hca", way.hca().name());
    object.put("distance", way.distance().name());
    object.put("travelled", way.travelled().name());
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
        object.put("roceV2Ipv4", MtuCheck.describe(hca, port).ipv4());
        object.put("gids", port.gids().stream().map(JsonReport::gid).toList());
        ports.add(object);
      }
    }
    return ports;
  }

  private static Map<String, Object> gid(Gid gid) {
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
