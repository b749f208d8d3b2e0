/**
 * Every part of a software HCA shares these: options, what a device may be asked, faults and
 * tracing.
 */
@NullMarked
package dev.doorbell.softhca.device;

import org.jspecify.annotations.NullMarked;
