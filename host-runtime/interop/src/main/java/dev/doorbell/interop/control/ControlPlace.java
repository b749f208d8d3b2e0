package dev.doorbell.interop.control;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/** A place at which a process answers requests. */
public sealed interface ControlPlace permits HostPort, SocketFile {
  /**
   * Connects.
   *
   * @param nanos for the attempt, where the system supports a limit
   */
  SocketChannel open(long nanos) throws IOException;

  /** Says what a new connection begins with. */
  default void greet(LineChannel channel) {}

  /** Names the command to start there when nobody answers. */
  String fix();

  /**
   * Connects; repeats the attempt until the deadline while nobody listens.
   *
   * @param nanos from now
   * @throws EnvironmentException when no process has answered by then
   */
  default LineChannel connect(long nanos) throws EnvironmentException {
    long pause = 20_000_000;
    long deadline = System.nanoTime() + nanos;
    while (true) {
      try {
        SocketChannel channel = open(Math.max(1, deadline - System.nanoTime()));
        try {
          LineChannel lines = new LineChannel(channel);
          greet(lines);
          return lines;
        } catch (IOException | RuntimeException e) {
          channel.close();
          throw e;
        }
      } catch (IOException | RuntimeException e) {
        if (e instanceof SocketTimeoutException || System.nanoTime() - deadline >= 0) {
          throw new EnvironmentException(
              Problem.of(
                      "DB-E041",
                      null,
                      "nobody answers at %s within %.1f s: %s"
                          .formatted(this, nanos / 1e9, e.getMessage()))
                  .fix(fix()));
        }
      }
      LockSupport.parkNanos(pause);
    }
  }
}
