package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import java.util.Map;

/** Options of NVIDIA's module that let a GPU map a NIC's doorbell page. */
final class RegistryKeyCheck implements Check {
  private static final Code SET = Code.of("DB-NVREG-01");
  private static final Code NO_OVERRIDE = Code.of("DB-NVREG-02");
  private static final Code NO_MEMOPS = Code.of("DB-NVREG-03");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    Map<String, String> parameters = machine.facts().driver().parameters();
    String dwords = parameters.getOrDefault("RegistryDwords", "");
    boolean override = dwords.replace(" ", "").contains("PeerMappingOverride=1");
    if (override) {
      found.add(SET, "", "PeerMappingOverride=1");
    } else {
      found.add(NO_OVERRIDE, "", "RegistryDwords has no PeerMappingOverride=1");
    }
    if (parameters.getOrDefault("EnableStreamMemOPs", "0").equals("0")) {
      found.add(NO_MEMOPS, "", "EnableStreamMemOPs is 0");
    }
  }
}
