package dev.doorbell.core.agent;

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

  /** What the agent is doing, for reports: kernel, PTX line and thread, or queue pair and state. */
  default String where() {
    return getClass().getSimpleName();
  }
}
