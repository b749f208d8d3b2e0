package dev.doorbell.proxy;

/** Where a {@link ProxyHandler} reports that a command has ended. */
public interface CommandResults {
  /**
   * The command has ended; kernels learn of it when all commands before it in its queue have ended,
   * too. Call it exactly once for every command that was accepted, in any order.
   *
   * @param failed the queue's counter of finished commands will say so from then on
   */
  void finished(long ticket, boolean failed);
}
