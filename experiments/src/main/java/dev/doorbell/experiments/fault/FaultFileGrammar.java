package dev.doorbell.experiments.fault;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.FaultGrammar;

/** The grammar of {@link FaultFile} for configs that contain or name a plan. */
public final class FaultFileGrammar implements FaultGrammar {
  @Override
  public FaultPlan read(String file, String text, long seed) throws ConfigException {
    return FaultFile.parse(file, text, seed);
  }

  @Override
  public FaultPlan inline(String file, String text, long seed) throws ConfigException {
    return FaultFile.parseInline(file, text, seed);
  }
}
