package dev.doorbell.experiments.run;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The run's log: what happened when, for whoever looks later. Safe from any thread. A log that
 * cannot be written does not stop a run.
 */
public final class RunLog implements Closeable {
  private final Path path;
  private @Nullable BufferedWriter writer;
  private boolean broken;

  RunLog(Path path) {
    this.path = path;
  }

  /** Adds a line with the time of day. */
  public synchronized void line(String text) {
    if (broken) {
      return;
    }
    try {
      BufferedWriter out = writer;
      if (out == null) {
        out = Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        writer = out;
      }
      out.write("%s  %s%n".formatted(Instant.now().truncatedTo(ChronoUnit.MILLIS), text));
      out.flush();
    } catch (IOException _) {
      broken = true;
    }
  }

  /** Adds a fault of Doorbell itself with its stack trace, which the terminal does not show. */
  public void fault(String where, Throwable fault) {
    StringWriter trace = new StringWriter();
    fault.printStackTrace(new PrintWriter(trace));
    line(where + ": " + trace);
  }

  @Override
  public synchronized void close() {
    broken = true;
    if (writer != null) {
      try {
        writer.close();
      } catch (IOException _) {
        // Each line was flushed.
      }
    }
  }
}
