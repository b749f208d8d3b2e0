package dev.doorbell.softhca.wire;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.pcap.Direction;
import org.jspecify.annotations.Nullable;

/** Passes a wire's frames to a capture, if there is one. */
final class Tap {
  private final Fabric fabric;
  private @Nullable WireCapture capture;
  private int number;

  Tap(Fabric fabric) {
    this.fabric = fabric;
  }

  /** Captures from now on, as an interface of that name; null for no longer. */
  void into(@Nullable WireCapture into, String name) {
    capture = into;
    if (into != null) {
      number = into.addInterface(name);
    }
  }

  boolean isOn() {
    return capture != null;
  }

  /** A frame that starts with an Ethernet header. */
  void frame(Direction direction, long address, int bytes) {
    WireCapture into = capture;
    if (into != null) {
      into.frame(number, fabric.now(), direction, address, bytes);
    }
  }
}
