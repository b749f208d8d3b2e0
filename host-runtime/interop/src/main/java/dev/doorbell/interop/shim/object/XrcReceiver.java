package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.Transport;

/** The receiving queue pair of an extended reliable connection: it ends with its last handle. */
public final class XrcReceiver {
  public final QueuePairControl control;
  final QueuePair queuePair;
  private final XrcDomain domain;
  private int handles;

  XrcReceiver(XrcDomain domain, QueuePair queuePair) {
    this.domain = domain;
    this.queuePair = queuePair;
    this.control = new QueuePairControl(queuePair, Transport.XRC);
  }

  void use() {
    handles++;
  }

  void unuse() {
    handles--;
    if (handles == 0) {
      queuePair.close();
      domain.remove(queuePair);
    }
  }
}
