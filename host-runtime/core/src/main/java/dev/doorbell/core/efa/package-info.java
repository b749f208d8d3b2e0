/**
 * The formats of Amazon's Elastic Fabric Adapter, byte by byte: work queue entries, completion
 * entries and doorbells of SRD queue pairs. Everything is little-endian. Nothing else in the
 * project contains their offsets.
 */
@NullMarked
package dev.doorbell.core.efa;

import org.jspecify.annotations.NullMarked;
