package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import java.util.List;

/** Messages that reach an HCA which others use. */
public final class HcaTargets {
  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        new FuzzTarget("shim", "messages to the server of the preload library", ShimSession::new));
  }
}
