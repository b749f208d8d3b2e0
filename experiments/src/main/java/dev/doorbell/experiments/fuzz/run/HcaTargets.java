package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTargets;
import java.util.List;

/** What reaches an HCA that others use: questions and packets. */
public final class HcaTargets implements FuzzTargets {
  @Override
  public List<FuzzTarget> targets() {
    return List.of(
        new FuzzTarget("control", "questions to a served HCA", ControlSession::new),
        new FuzzTarget(
            "packet", "RoCEv2 packets with a right ICRC from a peer", PacketSession::new),
        new FuzzTarget("shim", "messages to the server of the preload library", ShimSession::new));
  }
}
