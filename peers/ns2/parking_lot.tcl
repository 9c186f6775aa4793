# A parking lot in ns-2 2.35: a chain of routers r1 r2 ..., each link with a law of its own. The class "long" goes all
# the way, the class "cross1" from r1 to r2, "cross2" from r2 to r3, and so on.
#
#   ns parking_lot.tcl law red long 10 cross "10 20 30" seed 3
#
# The shared parts are in parts.tcl.

source [file join [file dirname [info script]] parts.tcl]
read_options {
    long 10  cross "10 20 30"  rate 10e6  delay 0.010  buffer 300
    access_rate 100e6  access_from 0.005  access_to 0.015
}
begin
set hops [llength $is(cross)]
for {set i 1} {$i <= $hops + 1} {incr i} { set router($i) [$ns node] }
for {set i 1} {$i <= $hops} {incr i} {
    set next [expr {$i + 1}]
    managed_link $router($i) $router($next) $is(rate) $is(delay) $is(buffer)
    watch r$i-r$next $router($i) $router($next) $is(rate)
}

# COUNT greedy flows from hosts at the router FROM to hosts at the router TO, further along.
proc flows {class count from to} {
    global is router
    for {set i 0} {$i < $count} {incr i} {
        set delay [spread $is(access_from) $is(access_to) $i $count]
        set source [host $router($from) $is(access_rate) $delay]
        set sink [host $router($to) $is(access_rate) $delay]
        for {set at $from} {$at < $to} {incr at} {
            set next [expr {$at + 1}]
            route_by $router($at) $sink $router($next)
            route_by $router($next) $source $router($at)
        }
        greedy $class $source $sink
    }
}
flows long $is(long) 1 [expr {$hops + 1}]
for {set i 1} {$i <= $hops} {incr i} { flows cross$i [lindex $is(cross) [expr {$i - 1}]] $i [expr {$i + 1}] }

proc report {} {
    global watched senders
    foreach name $watched { report_link $name }
    foreach class [lsort [array names senders]] { report_class $class $class }
}
measure report
