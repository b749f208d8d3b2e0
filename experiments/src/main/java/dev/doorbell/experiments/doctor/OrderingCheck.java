package dev.doorbell.experiments.doctor;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;

/** Relaxed ordering of memory regions, where libraries were told to do without it. */
final class OrderingCheck implements Check {
  private static final Set<String> NO = Set.of("0", "n", "no", "off", "false");

  static final Code SWITCHED_OFF =
      Code.warn(
          "DB-ORDER-01",
          "a variable switches relaxed ordering off where it is needed",
          "NCCL_IB_PCI_RELAXED_ORDERING=0 or UCX_IB_PCI_RELAXED_ORDERING=n, in a virtual machine or on"
              + " an AMD CPU.",
          "Writes into GPU memory wait for each other at the root complex: 84 instead of 400 Gb/s in a"
              + " virtual machine, 150 instead of 200 Gb/s on EPYC.",
          "leave the variable out: both libraries switch it on where the device can do it",
          "https://github.com/NVIDIA/nccl/issues/1731",
          "https://github.com/openucx/ucx/pull/8062");
  static final Code FORCED =
      Code.info(
          "DB-ORDER-02",
          "a variable forces relaxed ordering",
          "NCCL_IB_PCI_RELAXED_ORDERING=1 or UCX_IB_PCI_RELAXED_ORDERING=y.",
          "Payload may be written in any order. A flag that is a plain write in a relaxed region can"
              + " overtake its payload; NCCL keeps signals strict, own protocols must do so too.",
          "",
          "https://github.com/deepseek-ai/DeepEP/issues/661",
          "https://github.com/NVIDIA/nccl/issues/2210");

  private static final List<String> VARIABLES =
      List.of("NCCL_IB_PCI_RELAXED_ORDERING", "UCX_IB_PCI_RELAXED_ORDERING");

  @Override
  public List<Code> codes() {
    return List.of(SWITCHED_OFF, FORCED);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    boolean needed =
        patient.virtualMachine() || patient.facts().host().cpuVendor().equals("AuthenticAMD");
    for (String name : VARIABLES) {
      String value = patient.facts().variable(name).orElse("").toLowerCase(Locale.ROOT);
      if (NO.contains(value)) {
        if (needed && patient.hca()) {
          found.accept(new Finding(SWITCHED_OFF, name, "is " + value));
        }
      } else if (Set.of("1", "y", "yes", "on", "true").contains(value)) {
        found.accept(new Finding(FORCED, name, "is " + value));
      }
    }
  }
}
