package dev.doorbell.interop.control;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.util.concurrent.locks.LockSupport;

/** Sends requests to a served HCA. The objects that it creates there end with the connection. */
public final class ControlClient implements AutoCloseable {
  private static final long PAUSE_NANOS = 200_000;

  private final ControlPlace at;
  private final LineChannel channel;
  private final long nanos;

  /**
   * Connects.
   *
   * @param nanos that connecting, and each answer, may take
   */
  public ControlClient(ControlPlace at, long nanos) throws EnvironmentException {
    this.at = at;
    this.nanos = nanos;
    this.channel = at.connect(nanos);
  }

  /**
   * Sends a request and waits for the answer.
   *
   * @throws EnvironmentException when the request is refused, or not answered in time
   */
  public ControlLine call(ControlLine request) throws EnvironmentException {
    channel.send(request);
    long deadline = System.nanoTime() + nanos;
    String text = channel.poll();
    while (text == null) {
      String why = channel.ended();
      if (why == null && System.nanoTime() - deadline >= 0) {
        why = "no answer within %.1f s".formatted(nanos / 1e9);
      }
      if (why != null) {
        throw failure(
            "%s: %s".formatted(at, why), "is it a doorbell hca serve? look at its output");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
      text = channel.poll();
    }
    try {
      ControlLine answer = ControlLine.parse(text);
      if (answer.isError()) {
        throw failure(
            "%s refuses '%s': %s".formatted(at, request.verb(), answer.why()),
            "change what is asked for, or start it with other limits");
      }
      return answer;
    } catch (ControlLine.Refused e) {
      throw failure(
          "%s sends an illegal answer: %s".formatted(at, e.getMessage()),
          "is it a doorbell hca serve of the same version?");
    }
  }

  private static EnvironmentException failure(String what, String fix) {
    return new EnvironmentException(Problem.of("DB-E042", null, what).fix(fix));
  }

  @Override
  public void close() {
    channel.close();
  }
}
