package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.AdapterException;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.problem.Problem;

/** Adapters on command lines. */
public final class AdapterOption {
  private AdapterOption() {}

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

  /** Returns an adapter for programs that post through libmlx5; see {@link #parse}. */
  public static Adapter parseServed(String option, String word) throws UsageException {
    Adapter adapter = parse(option, word);
    if (adapter.promises().queues() != Promise.Queues.MLX5) {
      throw new UsageException(
          Problem.of(
                  "DB-U032",
                  option,
                  "%s has no mlx5 queues, and programs of libmlx5 fill no others"
                      .formatted(adapter))
              .effect("nothing was started")
              .fix("use it with explore, run or kernels of the device library"));
    }
    return adapter;
  }
}
