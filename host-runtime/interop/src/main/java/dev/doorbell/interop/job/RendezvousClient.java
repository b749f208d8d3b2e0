package dev.doorbell.interop.job;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.LineChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process's connection to the {@link Rendezvous} of its job. Nothing blocks: an HCA has to be
 * stepped while its process waits, so that peers get its acknowledgements.
 */
public final class RendezvousClient implements AutoCloseable {
  private static final long GRACE_NANOS = 5_000_000_000L;

  private final HostPort at;
  private final int size;
  private final long timeoutNanos;
  private final LineChannel channel;
  private @Nullable String round;
  private long since;
  private @Nullable List<String> gathered;

  /**
   * Connects to the rendezvous.
   *
   * @param size ranks of the job
   * @param timeoutNanos for the connection and for each round
   */
  public RendezvousClient(HostPort at, int size, long timeoutNanos) throws EnvironmentException {
    this.at = at;
    this.size = size;
    this.timeoutNanos = timeoutNanos;
    this.channel = at.connect(timeoutNanos);
  }

  /**
   * Starts a round with the values of this process's ranks.
   *
   * @param name the same for all ranks
   * @param values that of rank {@code first}, {@code first} + 1 ...; none has a line end
   */
  public void start(String name, int first, List<String> values) {
    round = name;
    gathered = null;
    since = System.nanoTime();
    for (int i = 0; i < values.size(); i++) {
      channel.send(
          ControlLine.of("gather")
              .with("round", name)
              .with("size", size)
              .with("rank", first + i)
              .with("value", values.get(i)));
    }
  }

  /**
   * True when the values of all ranks have arrived.
   *
   * @throws EnvironmentException naming the rank that is missing
   */
  public boolean isComplete() throws EnvironmentException {
    if (gathered != null) {
      return true;
    }
    String text = channel.poll();
    if (text == null) {
      if (channel.ended() != null) {
        throw gone();
      }
      if (System.nanoTime() - since > timeoutNanos + GRACE_NANOS) {
        throw failure("the rendezvous at %s does not answer".formatted(at));
      }
      return false;
    }
    try {
      ControlLine line = ControlLine.parse(text);
      if (line.isError()) {
        throw failure("the job cannot continue: " + line.why());
      }
      if (line.word("round").equals(round)) {
        gathered = List.of(line.word("values").split("\n", -1));
      }
    } catch (ControlLine.Refused e) {
      throw illegal(e);
    }
    return gathered != null;
  }

  /**
   * Checks between two rounds that the job goes on.
   *
   * @throws EnvironmentException when a rank has left, or the rendezvous is gone
   */
  public void requireAll() throws EnvironmentException {
    String text = channel.poll();
    if (text == null) {
      if (channel.ended() != null) {
        throw gone();
      }
      return;
    }
    try {
      ControlLine line = ControlLine.parse(text);
      throw failure(
          line.isError()
              ? "the job cannot continue: " + line.why()
              : "the rendezvous at %s speaks out of turn".formatted(at));
    } catch (ControlLine.Refused e) {
      throw illegal(e);
    }
  }

  private EnvironmentException gone() {
    return failure("the rendezvous at %s is gone: %s".formatted(at, channel.ended()));
  }

  private EnvironmentException illegal(ControlLine.Refused e) {
    return failure(
        "the rendezvous at %s sends an illegal message: %s".formatted(at, e.getMessage()));
  }

  /** The values of the round, in the order of ranks. */
  public List<String> values() {
    List<String> all = gathered;
    if (all == null) {
      throw new IllegalStateException("the round is not over");
    }
    return all;
  }

  private EnvironmentException failure(String what) {
    return new EnvironmentException(
        Problem.of("DB-E043", null, what)
            .effect("nothing of the job counts")
            .fix("start every process of the job, with the same --at and --ranks"));
  }

  @Override
  public void close() {
    channel.send(ControlLine.of("bye"));
    channel.close();
  }
}
