/**
 * A host channel adapter in software: it fetches genuine mlx5 WQEs from the rings, moves payload,
 * speaks the RC, UC and UD transports to its peers over a wire, and writes CQEs.
 *
 * <p>Everything above the HCA runs unchanged where there is no hardware. Queues, records, payload
 * and CQEs are reached through {@link dev.doorbell.core.fabric.DevicePort} alone, so the same HCA
 * runs at full speed, in virtual time, or on an exploring fabric.
 *
 * <p>This package assembles the device from its rooms, top down: {@code foreign} (queue pairs of
 * other formats than mlx5's), {@code queuepair} (queue pairs, DC targets, and the engine that runs
 * them), {@code requester} and {@code responder} (the halves of a queue pair), {@code objects}
 * (what verbs create, and {@code QueuePairContext}, what a half may ask of its queue pair), {@code
 * device} ({@code HcaServices}, what a part may ask of the device; options, faults, tracing),
 * {@code wire}, {@code packet}.
 *
 * <p>The stages of one RDMA WRITE, from the doorbell store to the CQE:
 *
 * <ol>
 *   <li>{@code objects.Uar} receives the store; {@code queuepair.SoftQueuePair} and {@code
 *       objects.PendingList} record it.
 *   <li>{@code queuepair.HcaEngine} runs the queue pair in its next step.
 *   <li>{@code requester.WqeSource} takes the producer index and fetches WQEs.
 *   <li>{@code requester.Requester} takes a WQE from it into a {@code SendRequest} of its {@code
 *       RequestRing}; {@code WqeDecoder} decodes it and looks its keys up ({@code
 *       objects.RegionTable}, {@code SoftMemoryRegion}).
 *   <li>{@code requester.SendState} assigns packet sequence numbers within the {@code SendWindow}.
 *   <li>{@code requester.PacketMaker} makes packets ({@code packet.Packet}, {@code PacketPool}) and
 *       gathers their payload; {@code RequestTxQueue} ({@code objects.TxQueue}) sends them in
 *       order.
 *   <li>A {@code packet.Route} of the wire ({@code wire.InProcessWire}) delivers them to the peer's
 *       {@link dev.doorbell.softhca.SoftHca}, whose engine hands them to the queue pair.
 *   <li>{@code responder.ReliableResponder} (a {@code Responder}) checks the sequence, {@code
 *       IncomingMessage} the rights, {@code ReceiveConsumer} writes the payload; the ACK leaves.
 *   <li>{@code requester.SendState} takes the ACK and stops its {@code AckTimer}.
 *   <li>{@code requester.Requester} completes the WQE: {@code objects.SoftCompletionQueue} writes
 *       the CQE.
 * </ol>
 */
@NullMarked
package dev.doorbell.softhca;

import org.jspecify.annotations.NullMarked;
