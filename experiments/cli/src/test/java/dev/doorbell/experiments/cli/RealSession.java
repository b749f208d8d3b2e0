package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.ServiceLoader;

/** A {@link Session} whose experiments run. Each command has a runtime of its own. */
public final class RealSession {
  private final int width;
  private String out = "";
  private String err = "";

  public RealSession() {
    this(Terminal.UNLIMITED);
  }

  /**
   * @param width of the terminal, in characters
   */
  RealSession(int width) {
    this.width = width;
  }

  /** The runtime that the command line would find. */
  static ExperimentRuntime runtime() {
    return ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow();
  }

  public ExitCode type(String... words) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    CommandContext context =
        new CommandContext(
            new Terminal(
                new PrintStream(outBytes, true, StandardCharsets.UTF_8),
                new PrintStream(errBytes, true, StandardCharsets.UTF_8),
                false,
                width),
            new ToolLauncher.Once(RealSession::runtime),
            new Disk(),
            Clock.systemUTC(),
            new Interruption(),
            List.of(words));
    ExitCode code = new Tool(context).run(words);
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  /** What the last command printed. */
  public String out() {
    return out;
  }

  /** Its messages. */
  public String err() {
    return err;
  }
}
