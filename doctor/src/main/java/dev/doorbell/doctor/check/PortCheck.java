package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.List;

/** States of the HCAs' ports, and the class that their traffic goes in. */
final class PortCheck implements Check {
  private static final Code ACTIVE = Code.of("DB-PORT-01");
  private static final Code DOWN = Code.of("DB-PORT-02");
  private static final Code ALL_DOWN = Code.of("DB-PORT-03");
  private static final Code NO_MANAGER = Code.of("DB-PORT-04");
  private static final Code CLASS = Code.of("DB-PORT-05");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    List<RdmaDevice> hcas = machine.facts().hcas();
    if (hcas.isEmpty()) {
      return;
    }
    boolean any = false;
    boolean all = true;
    for (RdmaDevice hca : hcas) {
      for (RdmaPort port : hca.ports()) {
        any |= port.active();
        all &= port.active();
      }
    }
    if (!any) {
      found.add(ALL_DOWN, "", "no port of %d HCAs is active".formatted(hcas.size()));
    }
    for (RdmaDevice hca : hcas) {
      hca.ports().forEach(port -> one(hca, port, found));
      hca.trafficClass()
          .filter(trafficClass -> trafficClass > 0)
          .filter(
              trafficClass ->
                  machine.facts().variable("NCCL_IB_TC").isEmpty()
                      && machine.facts().variable("NVSHMEM_IB_TRAFFIC_CLASS").isEmpty())
          .ifPresent(trafficClass -> found.add(CLASS, hca.name(), "traffic class " + trafficClass));
    }
    if (any && all) {
      found.add(
          ACTIVE,
          "",
          "%d in all".formatted(hcas.stream().mapToInt(hca -> hca.ports().size()).sum()));
    } else if (any) {
      for (RdmaDevice hca : hcas) {
        for (RdmaPort port : hca.ports()) {
          if (!port.active() && !waits(port)) {
            found.add(DOWN, hca.name() + ":" + port.number(), "state " + port.state());
          }
        }
      }
    }
  }

  private static void one(RdmaDevice hca, RdmaPort port, CheckResults found) {
    if (waits(port) || (port.active() && !port.ethernet() && port.lid() == 0)) {
      found.add(
          NO_MANAGER,
          hca.name() + ":" + port.number(),
          "state %s, LID %d".formatted(port.state(), port.lid()));
    }
  }

  private static boolean waits(RdmaPort port) {
    return !port.ethernet() && (port.state().equals("INIT") || port.state().equals("ARMED"));
  }
}
