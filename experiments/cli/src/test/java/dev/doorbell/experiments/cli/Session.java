package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.FakeRuntime;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

/** A user at a terminal that is not one: types a command line, reads what it prints. */
public final class Session {
  final FakeRuntime runtime = new FakeRuntime();
  final Interruption interruption = new Interruption();
  Disk disk = new Disk();
  int width = Terminal.UNLIMITED;
  private String out = "";
  private String err = "";

  public ExitCode type(String... arguments) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    CommandContext context =
        new CommandContext(
            new Terminal(
                new PrintStream(outBytes, true, StandardCharsets.UTF_8),
                new PrintStream(errBytes, true, StandardCharsets.UTF_8),
                false,
                width),
            () -> runtime,
            disk,
            Clock.fixed(Instant.parse("2026-01-01T12:00:00Z"), ZoneOffset.UTC),
            interruption,
            List.of(arguments));
    ExitCode code = new Tool(context).run(arguments);
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  public FakeRuntime runtime() {
    return runtime;
  }

  public String out() {
    return out;
  }

  public String err() {
    return err;
  }
}
