/**
 * The fabric of virtual time: accesses cost what a topology says, and everything that leaves a
 * component crosses PCIe links as transaction layer packets.
 *
 * <p>Its rooms, each of which uses only those before it: {@code machine} (the topology with all
 * prices, as records), {@code event} (queue and clock), {@code link} (PCIe), {@code interconnect}
 * (components, arrivals, watches), {@code processor} (what threads of a GPU or CPU share), {@code
 * thread} and {@code device} (the ports).
 */
@NullMarked
package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.NullMarked;
