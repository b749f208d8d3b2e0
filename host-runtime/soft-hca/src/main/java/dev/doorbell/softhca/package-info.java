/**
 * A host channel adapter in software: it fetches genuine mlx5 WQEs from the rings, moves payload,
 * talks the RC, UC and UD transports to its peers over a wire, and writes CQEs.
 *
 * <p>It exists so that everything above the HCA runs unchanged where there is none. Queues,
 * records, payload and CQEs are reached through {@link dev.doorbell.core.fabric.DevicePort} alone,
 * so the same engine runs at full speed, in virtual time, or under an adversary.
 */
@NullMarked
package dev.doorbell.softhca;

import org.jspecify.annotations.NullMarked;
