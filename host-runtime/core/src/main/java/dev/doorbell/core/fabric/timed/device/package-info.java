/**
 * Devices: their turns, timers and DMA. The stages of an HCA's pipeline (doorbell, WQE, packet) are
 * charged by the HCA with {@link dev.doorbell.core.fabric.DevicePort#delay} at the prices of {@link
 * dev.doorbell.core.fabric.timed.machine.NicPrices}; here are those of its DMA.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.device;

import org.jspecify.annotations.NullMarked;
