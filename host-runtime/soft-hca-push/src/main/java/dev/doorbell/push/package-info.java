/**
 * The push engine: a part of an HCA that no HCA has yet. It takes payloads that a GPU has stored
 * into on-chip memory, sends them reliably, and gives the memory back by credits. Here live its
 * consumer side, its transport (one frame a message, cumulative ACKs, go-back-N), and the checker
 * that holds every event of a run against the protocol's invariants. docs/push.md explains the
 * protocol.
 */
@NullMarked
package dev.doorbell.push;

import org.jspecify.annotations.NullMarked;
