package dev.doorbell.experiments;

import dev.doorbell.experiments.cli.ToolLauncher;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import java.util.ServiceLoader;

/** The {@code doorbell} command. */
public final class Main {
  private Main() {}

  /**
   * Runs one command line and exits with its code. The version needs no option parser, no YAML and
   * no GPU, and loads none.
   */
  public static void main(String[] arguments) {
    if (arguments.length == 1 && (arguments[0].equals("--version") || arguments[0].equals("-V"))) {
      System.out.println("doorbell " + Version.NUMBER);
      return;
    }
    System.exit(ToolLauncher.run(Main::runtime, arguments));
  }

  private static ExperimentRuntime runtime() {
    return ServiceLoader.load(ExperimentRuntime.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no ExperimentRuntime is on the class path"));
  }
}
