package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.run.FakeRuntime;
import java.util.ArrayList;
import java.util.List;

/** One rank's process, in the world without GPUs. */
final class RankRun {
  private RankRun() {}

  public static void main(String[] arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    if (words.remove("--seed-of-rank-2") && "2".equals(System.getenv("OMPI_COMM_WORLD_RANK"))) {
      words.addAll(List.of("--seed", "7"));
    }
    System.exit(ToolLauncher.run(FakeRuntime::new, words.toArray(String[]::new)));
  }
}
