package dev.doorbell.contract;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.List;

/** A machine of round constants, GPU and HCA under one switch; not a measurement. */
public final class RoundTopology {
  private RoundTopology() {}

  public static Topology sameSwitch() {
    return make(true);
  }

  /** Between GPU and HCA, writes are routed but reads are not. */
  public static Topology withoutPeerReads() {
    return make(false);
  }

  private static Topology make(boolean peerReads) {
    List<Link> links =
        List.of(
            Link.pcie("gpu", "gpu0", "switch", 4, 16, 256, 0.95),
            Link.pcie("nic", "nic0", "switch", 4, 16, 256, 0.95),
            Link.pcie("root", "switch", "cpu0", 4, 16, 256, 0.95));
    List<Path> paths =
        List.of(
            new Path(
                "gpu0",
                "nic0",
                List.of(new Hop("gpu", 175), new Hop("nic", 75)),
                peerReads,
                0,
                0,
                0,
                true,
                0),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 175), new Hop("root", 275))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 75), new Hop("root", 275))));
    return new Topology(
        "round",
        "round constants",
        List.of(new GpuPrices(0, 0, 0, 2, 0, 0, 150, 200, 200, 0, 300, 128, 50, 0, 6500, 26)),
        List.of(new CpuPrices(0, 0, 0, 0, 80, 100, 90, 64, 100, 0)),
        List.of(new NicPrices(50, 120, 100, 0, 0, 512, 0, 0)),
        links,
        paths,
        new Network(1000, 50, 58),
        List.of());
  }
}
