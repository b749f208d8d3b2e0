package dev.doorbell.push.network;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.push.network.Network.Host;
import dev.doorbell.push.network.SwitchNode.Ingress;
import org.jspecify.annotations.Nullable;

/**
 * A network carries frames: who to whom, and how long on the wire. Users extend it by what it means
 * to them.
 */
public abstract class Frame extends Completion.Cancellable {
  private final int source;
  private final int destination;
  private final int bytes;

  /** Frames with the same number take the same way, where there are several. */
  final long flow;

  /** True if it overtakes others in the queues of a network with urgent frames. */
  public final boolean urgent;

  private boolean congested;
  @Nullable Hop hop;

  // Where it came into the switch that it is in, and which part of the buffer it takes.
  @Nullable Ingress ingress;
  boolean inHeadroom;

  /** End of a leg of a frame's way. */
  interface Hop {
    void reached(Frame frame);
  }

  /**
   * A frame.
   *
   * @param source number of the {@link Host} that sends it
   * @param destination number of the one that gets it
   * @param bytes on the wire, everything from preamble to gap
   * @param flow what tells apart the flows from one host to another
   * @param urgent whether it overtakes others in the queues of a network with urgent frames
   */
  protected Frame(int source, int destination, int bytes, long flow, boolean urgent) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a frame of " + bytes + " bytes");
    }
    this.source = source;
    this.destination = destination;
    this.bytes = bytes;
    this.flow = flow ^ ((long) source << Integer.SIZE | destination);
    this.urgent = urgent;
  }

  public final int source() {
    return source;
  }

  public final int destination() {
    return destination;
  }

  /** Bytes on the wire. */
  public final int bytes() {
    return bytes;
  }

  /** Returns true if a switch on the way marked it: "congestion experienced". */
  public final boolean congested() {
    return congested;
  }

  final void mark() {
    congested = true;
  }

  /** The network has no room for it: it does not arrive. Called before the frame is forgotten. */
  protected void lost() {}

  /** The time of one leg is over. */
  @Override
  public final void completed(boolean ok) {
    Hop reached = hop;
    if (reached == null) {
      throw new IllegalStateException("a frame arrived that was not sent");
    }
    reached.reached(this);
  }
}
