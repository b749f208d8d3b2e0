package dev.doorbell.push.network;

/** A port in of a switch: what came in by it and has not left, and whether its sender is paused. */
final class Ingress implements Frame.Hop {
  /** Stops or resumes the sender at the other end of the cable. */
  interface Pause {
    void pause(boolean paused);
  }

  private final SwitchNode node;
  private final Pause sender;

  /** Bytes in the shared buffer and in the headroom. */
  long shared;

  long headroom;
  boolean paused;

  Ingress(SwitchNode node, Pause sender) {
    this.node = node;
    this.sender = sender;
  }

  void enter(Frame frame) {
    node.enter(frame, this);
  }

  @Override
  public void reached(Frame frame) {
    enter(frame);
  }

  /** A pause, or its end, has arrived at the sender. */
  void arrived(boolean stop) {
    sender.pause(stop);
  }
}
