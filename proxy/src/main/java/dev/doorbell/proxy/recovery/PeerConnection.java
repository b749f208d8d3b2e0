package dev.doorbell.proxy.recovery;

import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.SendQueueAccess;
import org.jspecify.annotations.Nullable;

/**
 * One connected queue pair to the peer, used until it fails: its queues are fresh, and nothing else
 * posts on it. The control calls reach the peer out of band.
 */
public interface PeerConnection extends AutoCloseable {
  /** What it is called in reports: which port it leaves by. */
  String name();

  /** Where to post; with a completion queue of its own. */
  SendQueueAccess access();

  /** Puts the keys of this connection's regions into a command that is about to be posted. */
  void adapt(CommandEntry command);

  /** Puts both ends in error: after this call the peer executes no further request. */
  void stop();

  /** What the peer has executed; null when it cannot tell. Called after {@link #stop}. */
  @Nullable ExecutedRequests executed();

  /** Writes the result of an atomic to the command's destination. */
  void deliver(CommandEntry command, long result);

  @Override
  void close();

  /** Makes connections. */
  @FunctionalInterface
  interface Source {
    /**
     * Connects a new connection; the peer's memory is the same.
     *
     * @param attempt 0 for the first, then counting up: a source with several ports takes the next
     * @return null when there is no path left
     */
    @Nullable PeerConnection open(int attempt);
  }
}
