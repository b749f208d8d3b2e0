/**
 * Queues created by firmware commands (DEVX): rings and doorbell records lie in memory that the
 * caller provides, in a GPU's memory too. {@link dev.doorbell.verbs.devx.DevxDevice} is what the
 * queues need of the device; {@link dev.doorbell.verbs.devx.DevxDomain} creates them.
 */
@NullMarked
package dev.doorbell.verbs.devx;

import org.jspecify.annotations.NullMarked;
