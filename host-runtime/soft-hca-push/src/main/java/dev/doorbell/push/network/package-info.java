/**
 * Networks in virtual time whose queues can be seen to fill: cables with impairments, and switches,
 * one or in tiers, with shared buffers, dynamic thresholds, headroom and equal-cost paths ({@link
 * dev.doorbell.push.network.SwitchedNetwork}).
 */
@NullMarked
package dev.doorbell.push.network;

import org.jspecify.annotations.NullMarked;
