package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.util.concurrent.locks.LockSupport;

/** Asks an HCA that is a process of its own. What it was given there ends with it. */
public final class ControlClient implements AutoCloseable {
  private static final long PAUSE_NANOS = 200_000;

  private final Endpoint at;
  private final LineChannel channel;
  private final long nanos;

  /**
   * Connects.
   *
   * @param nanos that connecting, and each answer, may take
   */
  public ControlClient(Endpoint at, long nanos) throws EnvironmentException {
    this.at = at;
    this.nanos = nanos;
    this.channel = at.connect(nanos);
  }

  /**
   * Asks, and waits for the answer.
   *
   * @throws EnvironmentException when the answer is no, or there is none in time
   */
  public ControlLine call(ControlLine question) throws EnvironmentException {
    return call(question, nanos);
  }

  /** As above, with a time of its own for the answer. */
  public ControlLine call(ControlLine question, long answerNanos) throws EnvironmentException {
    channel.send(question);
    long deadline = System.nanoTime() + answerNanos;
    String text = channel.poll();
    while (text == null) {
      String why = channel.ended();
      if (why == null && System.nanoTime() - deadline >= 0) {
        why = "no answer within %.1f s".formatted(answerNanos / 1e9);
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
            "%s refuses '%s': %s".formatted(at, question.verb(), answer.why()),
            "change what is asked for, or start it with other limits");
      }
      return answer;
    } catch (ControlLine.Refused e) {
      throw failure(
          "%s answers what is no answer: %s".formatted(at, e.getMessage()),
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
