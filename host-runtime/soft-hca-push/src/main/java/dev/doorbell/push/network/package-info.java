/**
 * Networks in virtual time whose queues can be seen to fill: cables with impairments, one switch
 * with a shared buffer ({@link dev.doorbell.push.network.Switch}), and switches in tiers with
 * dynamic thresholds, headroom and equal-cost paths ({@link
 * dev.doorbell.push.network.SwitchedNetwork}).
 */
@NullMarked
package dev.doorbell.push.network;

import org.jspecify.annotations.NullMarked;
