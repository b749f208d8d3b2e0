package dev.doorbell.proxy;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;

/**
 * A CPU thread of a fabric that goes round in stages. It writes its stores down; a load that parks
 * the thread is repeated before they are drained.
 */
abstract class RoundAgent implements Agent, AutoCloseable {
  /** Time for which an idle agent asks to be left alone: until something changes. */
  static final long IDLE_NANOS = 1L << 50;

  final Fabric fabric;
  final Locus locus;
  final ProxyPrices prices;
  final ThreadPort port;
  final StoreList stores = new StoreList();
  boolean loadParked;

  RoundAgent(Fabric fabric, Locus locus, ProxyPrices prices) {
    this.fabric = fabric;
    this.locus = locus;
    this.prices = prices;
    this.port = fabric.attachThread(locus, this);
  }

  /** Returns true while the next stage may run: a load that parked comes before stores. */
  final boolean mayContinue() {
    return loadParked || stores.drain(port);
  }

  /**
   * Takes the agent out of the fabric. Commands under way stay under way; they are not reported.
   */
  @Override
  public final void close() {
    fabric.detach(this);
  }
}
