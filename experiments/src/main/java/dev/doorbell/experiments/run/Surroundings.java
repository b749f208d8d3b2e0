package dev.doorbell.experiments.run;

import dev.doorbell.experiments.doctor.Doctor;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What a run finds where it runs.
 *
 * @param doctor what {@code doorbell doctor} found
 */
public record Surroundings(Machine machine, List<Manifest.Diagnosed> doctor) {
  public Surroundings {
    doctor = List.copyOf(doctor);
  }

  /**
   * Looks around, beside whatever else there is to prepare: some of it waits for other programs.
   */
  public static CompletableFuture<Surroundings> look() {
    return CompletableFuture.supplyAsync(Surroundings::here);
  }

  static Surroundings here() {
    return new Surroundings(
        Machine.here(),
        Doctor.examineHere().findings().stream().map(Manifest.Diagnosed::of).toList());
  }
}
