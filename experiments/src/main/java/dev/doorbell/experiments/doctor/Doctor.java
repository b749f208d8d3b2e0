package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The checklist, from what a machine is to what it has registered. */
public final class Doctor {
  private static final List<Check> CHECKLIST =
      List.of(
          new DriverCheck(),
          new RdmaCheck(),
          new PeerMemoryCheck(),
          new DmaBufCheck(),
          new RegistryKeyCheck(),
          new TopologyCheck(),
          new AcsCheck(),
          new IommuCheck(),
          new LinkCheck(),
          new PciSettingsCheck(),
          new BarCheck(),
          new LockedMemoryCheck(),
          new PortCheck(),
          new GidCheck(),
          new MtuCheck(),
          new OrderingCheck(),
          new VirtualMachineCheck(),
          new VariableCheck());

  private Doctor() {}

  /** Examines this machine, as this process sees it. */
  public static Diagnosis examineHere() {
    return examine(Facts.read(Path.of("/")), Optional.empty());
  }

  /** Goes through the checklist. */
  public static Diagnosis examine(Facts facts, Optional<Peer> peer) {
    Case patient = Case.of(facts, peer);
    List<Finding> findings = new ArrayList<>();
    CHECKLIST.forEach(check -> check.examine(patient, findings::add));
    return new Diagnosis(facts, patient.topology(), findings);
  }

  /** Every code there is, in the order of the checklist. */
  public static List<Code> codes() {
    return CHECKLIST.stream().flatMap(check -> check.codes().stream()).toList();
  }

  /** A code by its id, whatever the case of its letters, with or without {@code DB-}. */
  public static Optional<Code> code(String id) {
    String wanted = id.toUpperCase(Locale.ROOT);
    return codes().stream()
        .filter(code -> code.id().equals(wanted) || code.id().equals("DB-" + wanted))
        .findFirst();
  }
}
