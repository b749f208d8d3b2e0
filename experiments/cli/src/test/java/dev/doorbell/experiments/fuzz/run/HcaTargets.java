package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import java.util.List;

/** What reaches an HCA that others use: messages. */
public final class HcaTargets {
  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        new FuzzTarget("shim", "messages to the server of the preload library", ShimSession::new));
  }
}
