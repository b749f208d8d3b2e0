package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ProgramExit;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.Console;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Connects the tool to this process: its streams, its runtime, its signals. */
public final class ToolLauncher {
  /** Longer than a run allows its points to notice, so that the summary is written. */
  private static final long SHUTDOWN_SECONDS = 20;

  private ToolLauncher() {}

  /** Runs one command line on this process's streams and returns its exit status. */
  public static int run(Supplier<ExperimentRuntime> runtime, String... arguments) {
    // Files and output are for programs, too: their digits are ASCII whatever the user's language.
    Locale.setDefault(Locale.ROOT);
    Interruption interruption = new Interruption();
    CountDownLatch finished = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> onShutdown(interruption, finished), "ctrl-c"));
    try {
      CommandContext context =
          new CommandContext(
              new Terminal(
                  Tool.utf8(System.out),
                  Tool.utf8(System.err),
                  isTerminal(),
                  Terminal.width(System.getenv("COLUMNS"))),
              new Once(runtime),
              new Disk(),
              Clock.systemUTC(),
              interruption,
              List.of(arguments));
      return new Tool(context).run(arguments).status();
    } catch (ProgramExit e) {
      return e.status();
    } finally {
      finished.countDown();
    }
  }

  /**
   * On Ctrl-C the virtual machine exits with 130 as soon as this returns: not before the run has
   * written what it has. After a normal end, and for a command that does not ask whether to end,
   * there is nothing to wait for.
   */
  private static void onShutdown(Interruption interruption, CountDownLatch finished) {
    interruption.request();
    if (!interruption.watched()) {
      return; // a command that keeps nothing, or has not begun to
    }
    try {
      if (!finished.await(SHUTDOWN_SECONDS, TimeUnit.SECONDS)) {
        System.err.println("gave up waiting for the command to end; what it recorded is kept");
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean isTerminal() {
    return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  }

  /**
   * Makes the runtime when it is first asked for, so that help and usage errors load no back end.
   */
  static final class Once implements Supplier<ExperimentRuntime> {
    private final Supplier<ExperimentRuntime> factory;
    private @Nullable ExperimentRuntime runtime;

    Once(Supplier<ExperimentRuntime> factory) {
      this.factory = factory;
    }

    @Override
    public synchronized ExperimentRuntime get() {
      ExperimentRuntime made = runtime == null ? factory.get() : runtime;
      runtime = made;
      return made;
    }
  }
}
