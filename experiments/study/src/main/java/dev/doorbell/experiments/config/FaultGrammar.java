package dev.doorbell.experiments.config;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.document.SourcePositions;
import java.util.ServiceLoader;
import tools.jackson.databind.JsonNode;

/**
 * Reads fault plans, whose words are those of the hardware. Found as a service: this package does
 * not depend on the hardware.
 */
public interface FaultGrammar {
  /**
   * Reads a file that holds a plan.
   *
   * @param file what to call it in problems
   * @param seed of a plan that names none
   * @throws ConfigException with everything that is wrong, in the order of the text
   */
  FaultPlan read(String file, String text, long seed) throws ConfigException;

  /**
   * Reads a plan that is valid against its schema.
   *
   * @param plan a mapping whose {@code faults} are a list
   * @param seed of a plan that names none
   */
  FaultPlan plan(JsonNode plan, SourcePositions positions, long seed) throws ConfigException;

  static FaultGrammar find() {
    return ServiceLoader.load(FaultGrammar.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("the build left out the fault grammar"));
  }
}
