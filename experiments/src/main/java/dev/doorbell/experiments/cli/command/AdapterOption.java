package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.AdapterException;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.problem.Problem;

/** Adapters on command lines. */
public final class AdapterOption {
  private AdapterOption() {}

  /** Returns the adapter that a user named. */
  public static Adapter parse(String option, String word) throws UsageException {
    try {
      return Adapters.of(word);
    } catch (AdapterException e) {
      throw new UsageException(
          Problem.of("DB-U032", option, String.valueOf(e.getMessage()))
              .effect("nothing was started")
              .fix(e.fix()));
    }
  }
}
