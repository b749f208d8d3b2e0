package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Processes of one rank each that go from step to step together; rank 0 holds the rendezvous. */
public final class Company implements AutoCloseable {
  private final int rank;
  private final @Nullable Rendezvous place;
  private final Bootstrap bootstrap;

  /**
   * Joins.
   *
   * @param size processes
   * @param patienceNanos for the others, at each step
   * @throws EnvironmentException when the place is taken, or nobody is there
   */
  public Company(int rank, int size, Endpoint at, long patienceNanos) throws EnvironmentException {
    this.rank = rank;
    this.place = rank == 0 ? new Rendezvous(at, size, patienceNanos) : null;
    Endpoint found = place == null ? at : new Endpoint(at.host(), place.port());
    try {
      this.bootstrap = new Bootstrap(found, size, patienceNanos);
    } catch (EnvironmentException e) {
      if (place != null) {
        place.close();
      }
      throw e;
    }
  }

  /**
   * Waits until everybody has come to this step.
   *
   * @param step the same for all, and another one each time
   * @param value that this process brings, without a line end
   * @param meanwhile done again and again while it waits
   * @return everybody's values, in the order of ranks
   */
  public List<String> meet(String step, String value, Runnable meanwhile)
      throws EnvironmentException {
    bootstrap.bring(step, rank, List.of(value));
    while (!isGathered()) {
      meanwhile.run();
    }
    return bootstrap.values();
  }

  private boolean isGathered() throws EnvironmentException {
    if (place != null) {
      place.poll();
    }
    return bootstrap.isGathered();
  }

  @Override
  public void close() {
    bootstrap.close();
    if (place != null) {
      place.close();
    }
  }
}
