package dev.doorbell.proxy;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;

/**
 * Handles the commands of a queue. {@link ProxyAgent} reads entries, gives them out in order, and
 * publishes to kernels how many have ended; a handler does the rest. The agent's own handler posts
 * them as WQEs; plug in another one to try another consumer on the same queue.
 *
 * <p>All methods are called on the thread that steps the agent and must not wait. A handler stores
 * by way of the {@link StoreList}; the agent does those stores in order, before it goes on to the
 * next part of its round. Loads it does itself, in {@link #poll} alone.
 */
public interface ProxyHandler {
  /** Result of {@link #poll} when the port parked the thread. */
  int PARKED = -1;

  /**
   * Takes a command.
   *
   * @param command valid during the call
   * @param ticket the command's index in its queue; ends with a call to {@code results}
   * @return false when there is no room for it: nothing was taken, and the same command is offered
   *     again after the next {@link #poll}
   */
  boolean accept(CommandEntry command, long ticket, CommandResults results, StoreList stores);

  /** No more commands for now: hand on what was accepted. */
  void flush(StoreList stores);

  /**
   * Looks for commands that have ended. Look with strong loads ({@code Access.ACQUIRE}): an idle
   * agent is woken when what was loaded changes.
   *
   * @return how much was found, 0 for nothing, or {@link #PARKED}: then the next call has to begin
   *     with the same load
   */
  int poll(ThreadPort port, StoreList stores);

  /** Takes a {@link ProxyHandler}'s report that a command has ended. */
  interface CommandResults {
    /**
     * The command has ended; kernels learn of it when all commands before it in its queue have
     * ended, too. Call it exactly once for every command that was accepted, in any order.
     *
     * @param failed the queue's counter of finished commands will say so from then on
     */
    void finished(long ticket, boolean failed);
  }
}
