package dev.doorbell.core.agent;

import org.jspecify.annotations.Nullable;

/**
 * Anything that makes progress: a CUDA thread of the virtual machine, an HCA engine, a proxy.
 *
 * <p>An agent never blocks and never sleeps. Which host thread steps it, and when, is
 * configuration.
 */
public interface Agent {
  /**
   * Makes progress.
   *
   * @param budget about how much may be done before returning: instructions, work requests,
   *     commands
   * @return how much was done; 0 means that there was nothing to do, or that the agent waits for
   *     its port
   */
  int step(int budget);

  /**
   * Describes the agent's activity for reports: kernel, PTX line and thread, or queue pair and
   * state.
   */
  default String where() {
    return getClass().getSimpleName();
  }

  /** Names the agent for reports: the thread, the HCA. */
  default String name() {
    return where();
  }

  /**
   * Returns the place of the next instruction, as cheaply as possible: the same object for the same
   * place, or null when it has no places. To be asked between steps of budget 1, or from the port
   * in one.
   */
  default @Nullable Object place() {
    return null;
  }

  /** Returns the places that may come right after a result of {@link #place}. */
  default NextPlaces following(Object place) {
    return NextPlaces.NONE;
  }

  /** Describes a result of {@link #place}. */
  default @Nullable SourcePlace describe(Object place) {
    return null;
  }

  /** Has no turn: the completions of what it asks its port for do all its work. */
  final class Passive implements Agent {
    @Override
    public int step(int budget) {
      return 0;
    }
  }
}
