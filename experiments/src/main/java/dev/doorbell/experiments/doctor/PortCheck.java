package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.RdmaPort;
import java.util.List;
import java.util.function.Consumer;

/** States of the HCAs' ports, and the class that their traffic goes in. */
final class PortCheck implements Check {
  static final Code ACTIVE =
      Code.pass(
          "DB-PORT-01",
          "ports are active",
          "state of the ports in sysfs is 4: ACTIVE.",
          "Queue pairs can connect.");
  static final Code DOWN =
      Code.warn(
          "DB-PORT-02",
          "a port is down",
          "state of a port is not ACTIVE, while another port is.",
          "Libraries skip it, or choose it and fail if they are told to use it.",
          "plug in the cable, or leave the device out: NCCL_IB_HCA=^NAME; ip link set DEV up");
  static final Code ALL_DOWN =
      Code.fail(
          "DB-PORT-03",
          "no port is active",
          "state of no port of any HCA is ACTIVE.",
          "Nothing can connect; NCCL logs \"NET/IB : No device found\" and uses sockets.",
          "check cable, switch port and ip link; for InfiniBand the subnet manager");
  static final Code NO_MANAGER =
      Code.fail(
          "DB-PORT-04",
          "no subnet manager",
          "An InfiniBand port is in INIT or ARMED, or is ACTIVE with LID 0.",
          "The port has no address; RTR fails.",
          "start a subnet manager: on the switch, or systemctl start opensm on one host");
  static final Code CLASS =
      Code.warn(
          "DB-PORT-05",
          "a traffic class that GPU-created queue pairs do not get",
          "tc/1/traffic_class of the device is set, and NCCL_IB_TC and NVSHMEM_IB_TRAFFIC_CLASS are"
              + " not.",
          "The kernel puts it into queue pairs made by verbs, not into those made by DEVX: these run in"
              + " the lossy class and end with \"transport retry counter exceeded\" under load.",
          "set NCCL_IB_TC (and NVSHMEM_IB_TRAFFIC_CLASS) to the same number",
          "https://github.com/NVIDIA/nccl/issues/2383");

  @Override
  public List<Code> codes() {
    return List.of(ACTIVE, DOWN, ALL_DOWN, NO_MANAGER, CLASS);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<RdmaDevice> hcas = patient.facts().hcas();
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
      found.accept(
          new Finding(ALL_DOWN, "", "no port of %d HCAs is active".formatted(hcas.size())));
    }
    for (RdmaDevice hca : hcas) {
      hca.ports().forEach(port -> one(hca, port, found));
      hca.trafficClass()
          .filter(trafficClass -> trafficClass > 0)
          .filter(
              trafficClass ->
                  patient.facts().variable("NCCL_IB_TC").isEmpty()
                      && patient.facts().variable("NVSHMEM_IB_TRAFFIC_CLASS").isEmpty())
          .ifPresent(
              trafficClass ->
                  found.accept(new Finding(CLASS, hca.name(), "traffic class " + trafficClass)));
    }
    if (any && all) {
      found.accept(
          new Finding(
              ACTIVE,
              "",
              "%d in all".formatted(hcas.stream().mapToInt(hca -> hca.ports().size()).sum())));
    } else if (any) {
      for (RdmaDevice hca : hcas) {
        for (RdmaPort port : hca.ports()) {
          if (!port.active() && !waits(port)) {
            found.accept(
                new Finding(DOWN, hca.name() + ":" + port.number(), "state " + port.state()));
          }
        }
      }
    }
  }

  private static void one(RdmaDevice hca, RdmaPort port, Consumer<Finding> found) {
    if (waits(port) || (port.active() && !port.ethernet() && port.lid() == 0)) {
      found.accept(
          new Finding(
              NO_MANAGER,
              hca.name() + ":" + port.number(),
              "state %s, LID %d".formatted(port.state(), port.lid())));
    }
  }

  private static boolean waits(RdmaPort port) {
    return !port.ethernet() && (port.state().equals("INIT") || port.state().equals("ARMED"));
  }
}
