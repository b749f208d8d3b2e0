/**
 * The fabric of virtual time: accesses cost what a topology says, and everything that leaves a
 * component crosses PCIe links as transaction layer packets. It exists so that the same kernels and
 * HCAs that run as fast as they can elsewhere yield modelled latencies here.
 */
@NullMarked
package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.NullMarked;
