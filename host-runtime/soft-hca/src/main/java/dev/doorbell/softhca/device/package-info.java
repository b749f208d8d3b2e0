/**
 * What every part of a software HCA shares: its options, what a device may be asked, faults and
 * tracing.
 */
@NullMarked
package dev.doorbell.softhca.device;

import org.jspecify.annotations.NullMarked;
