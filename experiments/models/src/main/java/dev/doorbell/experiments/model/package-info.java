/**
 * Closed forms beside the simulation: what latency and bandwidth the arithmetic of PCIe predicts
 * for each way of posting, from the same topology. Where the two differ, one of them is wrong.
 */
@NullMarked
package dev.doorbell.experiments.model;

import org.jspecify.annotations.NullMarked;
