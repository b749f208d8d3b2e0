package dev.doorbell.interop.job;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.HostPort;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Processes of one rank each that synchronize at each step; rank 0 has the rendezvous. */
public final class ProcessGroup implements AutoCloseable {
  private final int rank;
  private final @Nullable Rendezvous rendezvous;
  private final RendezvousClient client;

  /**
   * Joins.
   *
   * @param size processes
   * @param timeoutNanos for the others, at each step
   * @throws EnvironmentException when the port is in use, or no rendezvous answers
   */
  public ProcessGroup(int rank, int size, HostPort at, long timeoutNanos)
      throws EnvironmentException {
    this.rank = rank;
    this.rendezvous = rank == 0 ? new Rendezvous(at, size, timeoutNanos) : null;
    HostPort found = rendezvous == null ? at : rendezvous.place();
    try {
      this.client = new RendezvousClient(found, size, timeoutNanos);
    } catch (EnvironmentException e) {
      if (rendezvous != null) {
        rendezvous.close();
      }
      throw e;
    }
  }

  /**
   * Waits until all processes have reached this step.
   *
   * @param step the same for all processes, and unique
   * @param value of this process, without a line end
   * @param meanwhile called repeatedly while it waits
   * @return the values of all processes, in the order of ranks
   */
  public List<String> gather(String step, String value, Runnable meanwhile)
      throws EnvironmentException {
    client.start(step, rank, List.of(value));
    while (!isComplete()) {
      meanwhile.run();
    }
    return client.values();
  }

  /**
   * Checks between two steps that the other processes are there: one that was killed is named at
   * once, and not when something that it would have answered is overdue.
   *
   * @throws EnvironmentException when one has left
   */
  public void requireAll() throws EnvironmentException {
    if (rendezvous != null) {
      rendezvous.poll();
    }
    client.requireAll();
    if (rendezvous != null && !rendezvous.isWhole()) {
      throw new EnvironmentException(
          Problem.of("DB-E043", null, "the job cannot continue: another process has left")
              .effect("nothing of the job counts")
              .fix("see what the other process printed, and start all of them again"));
    }
  }

  private boolean isComplete() throws EnvironmentException {
    if (rendezvous != null) {
      rendezvous.poll();
    }
    return client.isComplete();
  }

  @Override
  public void close() {
    client.close();
    if (rendezvous != null) {
      rendezvous.close();
    }
  }
}
