BEGIN TRANSACTION;
CREATE TABLE aggregate_hosts (
        aggregate_id INTEGER NOT NULL, host TEXT NOT NULL, PRIMARY KEY (aggregate_id, host));
INSERT INTO "aggregate_hosts" VALUES(1,'whole-6');
INSERT INTO "aggregate_hosts" VALUES(1,'whole-7');
INSERT INTO "aggregate_hosts" VALUES(1,'room-1');
INSERT INTO "aggregate_hosts" VALUES(1,'room-2');
INSERT INTO "aggregate_hosts" VALUES(1,'broken-1');
INSERT INTO "aggregate_hosts" VALUES(1,'swap-1');
INSERT INTO "aggregate_hosts" VALUES(1,'offer-1');
INSERT INTO "aggregate_hosts" VALUES(1,'offer-2');
INSERT INTO "aggregate_hosts" VALUES(2,'lent-1');
INSERT INTO "aggregate_hosts" VALUES(2,'lent-2');
INSERT INTO "aggregate_hosts" VALUES(2,'lent-3');
INSERT INTO "aggregate_hosts" VALUES(7,'whole-2');
INSERT INTO "aggregate_hosts" VALUES(7,'whole-3');
INSERT INTO "aggregate_hosts" VALUES(7,'whole-4');
INSERT INTO "aggregate_hosts" VALUES(8,'room-1');
INSERT INTO "aggregate_hosts" VALUES(8,'room-2');
INSERT INTO "aggregate_hosts" VALUES(9,'whole-1');
INSERT INTO "aggregate_hosts" VALUES(10,'room-1');
INSERT INTO "aggregate_hosts" VALUES(11,'room-1');
INSERT INTO "aggregate_hosts" VALUES(12,'room-1');
INSERT INTO "aggregate_hosts" VALUES(13,'whole-5');
INSERT INTO "aggregate_hosts" VALUES(14,'room-1');
INSERT INTO "aggregate_hosts" VALUES(15,'room-1');
INSERT INTO "aggregate_hosts" VALUES(16,'room-1');
INSERT INTO "aggregate_hosts" VALUES(17,'queue-2');
INSERT INTO "aggregate_hosts" VALUES(18,'retry-1');
INSERT INTO "aggregate_hosts" VALUES(19,'queue-3');
INSERT INTO "aggregate_hosts" VALUES(21,'queue-4');
INSERT INTO "aggregate_hosts" VALUES(22,'lent-1');
INSERT INTO "aggregate_hosts" VALUES(23,'swap-2');
INSERT INTO "aggregate_hosts" VALUES(1,'queue-1');
CREATE TABLE aggregate_metadata (
        aggregate_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (aggregate_id, name));
INSERT INTO "aggregate_metadata" VALUES(7,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(8,'reservation','0dc10766-3691-427a-9ac7-2b3b43d56b23');
INSERT INTO "aggregate_metadata" VALUES(8,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(8,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(8,'affinity_id','2f4edd89-6694-4de3-8338-d569079069fd');
INSERT INTO "aggregate_metadata" VALUES(9,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(10,'reservation','a4c84744-ee19-4132-ae2e-e38563e009ed');
INSERT INTO "aggregate_metadata" VALUES(10,'filter_tenant_id','other');
INSERT INTO "aggregate_metadata" VALUES(10,'climate:owner','other');
INSERT INTO "aggregate_metadata" VALUES(11,'reservation','231fa71e-9d20-442f-bc77-689f7086b591');
INSERT INTO "aggregate_metadata" VALUES(11,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(11,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(11,'affinity_id','3bcd273e-99f2-46e7-b993-bf3fc9dc7dcb');
INSERT INTO "aggregate_metadata" VALUES(12,'reservation','7a360cf1-7b9e-48c9-9772-dcc7e411095b');
INSERT INTO "aggregate_metadata" VALUES(12,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(12,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(13,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(14,'reservation','ee072cbe-fc71-4b66-b0f8-7576cb783bcc');
INSERT INTO "aggregate_metadata" VALUES(14,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(14,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(15,'reservation','87379608-3af7-460e-885a-a0994fe9594c');
INSERT INTO "aggregate_metadata" VALUES(15,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(15,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(16,'reservation','cd515304-c138-416e-8417-559985d294cd');
INSERT INTO "aggregate_metadata" VALUES(16,'filter_tenant_id','demo');
INSERT INTO "aggregate_metadata" VALUES(16,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(16,'affinity_id','d355e402-d2b7-4d73-8d67-81471af7eb9e');
INSERT INTO "aggregate_metadata" VALUES(17,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(18,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(19,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(21,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(22,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(23,'climate:owner','demo');
INSERT INTO "aggregate_metadata" VALUES(24,'climate:owner','demo');
CREATE TABLE aggregates (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, zone TEXT);
INSERT INTO "aggregates" VALUES(1,'freepool',NULL);
INSERT INTO "aggregates" VALUES(2,'lent',NULL);
INSERT INTO "aggregates" VALUES(7,'a354da9e-0675-43f0-99e3-4fe7f53fcf96','climate_a354da9e-0675-43f0-99e3-4fe7f53fcf96');
INSERT INTO "aggregates" VALUES(8,'0dc10766-3691-427a-9ac7-2b3b43d56b23',NULL);
INSERT INTO "aggregates" VALUES(9,'dde4c99d-4131-46ba-b492-11c89e43ddcd','climate_dde4c99d-4131-46ba-b492-11c89e43ddcd');
INSERT INTO "aggregates" VALUES(10,'a4c84744-ee19-4132-ae2e-e38563e009ed',NULL);
INSERT INTO "aggregates" VALUES(11,'231fa71e-9d20-442f-bc77-689f7086b591',NULL);
INSERT INTO "aggregates" VALUES(12,'7a360cf1-7b9e-48c9-9772-dcc7e411095b',NULL);
INSERT INTO "aggregates" VALUES(13,'01270c42-e862-4b29-9259-ec0c90d1600c','climate_01270c42-e862-4b29-9259-ec0c90d1600c');
INSERT INTO "aggregates" VALUES(14,'ee072cbe-fc71-4b66-b0f8-7576cb783bcc',NULL);
INSERT INTO "aggregates" VALUES(15,'87379608-3af7-460e-885a-a0994fe9594c',NULL);
INSERT INTO "aggregates" VALUES(16,'cd515304-c138-416e-8417-559985d294cd',NULL);
INSERT INTO "aggregates" VALUES(17,'1ea0c1f9-1c5d-457a-b8f0-71c52227d957','climate_1ea0c1f9-1c5d-457a-b8f0-71c52227d957');
INSERT INTO "aggregates" VALUES(18,'a2dd2af3-ca66-496e-9a5a-6ded5b37644f','climate_a2dd2af3-ca66-496e-9a5a-6ded5b37644f');
INSERT INTO "aggregates" VALUES(19,'3ff5499e-44de-4b0c-aa2e-4be84916e994','climate_3ff5499e-44de-4b0c-aa2e-4be84916e994');
INSERT INTO "aggregates" VALUES(21,'393f354c-8903-4cc4-b174-063524d0cfae','climate_393f354c-8903-4cc4-b174-063524d0cfae');
INSERT INTO "aggregates" VALUES(22,'78855607-a7b0-451b-9834-9b2dfa269d82','climate_78855607-a7b0-451b-9834-9b2dfa269d82');
INSERT INTO "aggregates" VALUES(23,'5363e57d-52df-47e9-b06b-15943a5bbd86','climate_5363e57d-52df-47e9-b06b-15943a5bbd86');
INSERT INTO "aggregates" VALUES(24,'520fcfcc-1ecc-4dfe-ae9f-5b9fe1e35957','climate_520fcfcc-1ecc-4dfe-ae9f-5b9fe1e35957');
CREATE TABLE failures (
        server_id TEXT NOT NULL, change TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE flavor_access (
        flavor_id TEXT NOT NULL, project_id TEXT NOT NULL, PRIMARY KEY (flavor_id, project_id));
INSERT INTO "flavor_access" VALUES('0dc10766-3691-427a-9ac7-2b3b43d56b23','demo');
INSERT INTO "flavor_access" VALUES('a4c84744-ee19-4132-ae2e-e38563e009ed','other');
INSERT INTO "flavor_access" VALUES('231fa71e-9d20-442f-bc77-689f7086b591','demo');
INSERT INTO "flavor_access" VALUES('7a360cf1-7b9e-48c9-9772-dcc7e411095b','demo');
INSERT INTO "flavor_access" VALUES('ee072cbe-fc71-4b66-b0f8-7576cb783bcc','demo');
INSERT INTO "flavor_access" VALUES('87379608-3af7-460e-885a-a0994fe9594c','demo');
CREATE TABLE flavors (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, vcpus INTEGER NOT NULL, ram INTEGER NOT NULL,
        disk INTEGER NOT NULL, ephemeral INTEGER NOT NULL, swap INTEGER NOT NULL,
        is_public INTEGER NOT NULL, extra_specs TEXT NOT NULL);
INSERT INTO "flavors" VALUES('1','m1.tiny',1,512,1,0,0,1,'{}');
INSERT INTO "flavors" VALUES('2','m1.small',1,2048,20,0,0,1,'{}');
INSERT INTO "flavors" VALUES('3','m1.medium',2,4096,40,0,0,1,'{}');
INSERT INTO "flavors" VALUES('4','m1.large',4,8192,80,0,0,1,'{}');
INSERT INTO "flavors" VALUES('0dc10766-3691-427a-9ac7-2b3b43d56b23','reservation:0dc10766-3691-427a-9ac7-2b3b43d56b23',1,1024,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"0dc10766-3691-427a-9ac7-2b3b43d56b23","resources:CUSTOM_RESERVATION_0DC10766_3691_427A_9AC7_2B3B43D56B23":"1","affinity_id":"2f4edd89-6694-4de3-8338-d569079069fd"}');
INSERT INTO "flavors" VALUES('a4c84744-ee19-4132-ae2e-e38563e009ed','reservation:a4c84744-ee19-4132-ae2e-e38563e009ed',1,1024,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"a4c84744-ee19-4132-ae2e-e38563e009ed","resources:CUSTOM_RESERVATION_A4C84744_EE19_4132_AE2E_E38563E009ED":"1"}');
INSERT INTO "flavors" VALUES('231fa71e-9d20-442f-bc77-689f7086b591','reservation:231fa71e-9d20-442f-bc77-689f7086b591',1,1024,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"231fa71e-9d20-442f-bc77-689f7086b591","resources:CUSTOM_RESERVATION_231FA71E_9D20_442F_BC77_689F7086B591":"1","affinity_id":"3bcd273e-99f2-46e7-b993-bf3fc9dc7dcb"}');
INSERT INTO "flavors" VALUES('7a360cf1-7b9e-48c9-9772-dcc7e411095b','reservation:7a360cf1-7b9e-48c9-9772-dcc7e411095b',1,1024,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"7a360cf1-7b9e-48c9-9772-dcc7e411095b","resources:CUSTOM_RESERVATION_7A360CF1_7B9E_48C9_9772_DCC7E411095B":"1"}');
INSERT INTO "flavors" VALUES('ee072cbe-fc71-4b66-b0f8-7576cb783bcc','reservation:ee072cbe-fc71-4b66-b0f8-7576cb783bcc',1,1024,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"ee072cbe-fc71-4b66-b0f8-7576cb783bcc","resources:CUSTOM_RESERVATION_EE072CBE_FC71_4B66_B0F8_7576CB783BCC":"1"}');
INSERT INTO "flavors" VALUES('87379608-3af7-460e-885a-a0994fe9594c','reservation:87379608-3af7-460e-885a-a0994fe9594c',1,512,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"87379608-3af7-460e-885a-a0994fe9594c","resources:CUSTOM_RESERVATION_87379608_3AF7_460E_885A_A0994FE9594C":"1"}');
INSERT INTO "flavors" VALUES('cd515304-c138-416e-8417-559985d294cd','reservation:cd515304-c138-416e-8417-559985d294cd',1,512,1,0,0,0,'{"aggregate_instance_extra_specs:reservation":"cd515304-c138-416e-8417-559985d294cd","resources:CUSTOM_RESERVATION_CD515304_C138_416E_8417_559985D294CD":"1","affinity_id":"d355e402-d2b7-4d73-8d67-81471af7eb9e"}');
CREATE TABLE hosts (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, service_host TEXT NOT NULL UNIQUE,
        vcpus INTEGER NOT NULL, memory_mb INTEGER NOT NULL, disk_gb INTEGER NOT NULL,
        hypervisor_type TEXT NOT NULL, hypervisor_version INTEGER NOT NULL,
        cpu_info TEXT NOT NULL, traits TEXT NOT NULL, up INTEGER NOT NULL,
        enabled INTEGER NOT NULL, reason TEXT, barred INTEGER NOT NULL DEFAULT 0);
INSERT INTO "hosts" VALUES(1,'whole-1','whole-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(2,'whole-2','whole-2',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(3,'whole-3','whole-3',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(4,'whole-4','whole-4',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(5,'whole-5','whole-5',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(6,'whole-6','whole-6',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(7,'whole-7','whole-7',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(8,'room-1','room-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(9,'room-2','room-2',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(10,'queue-1','queue-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(11,'queue-2','queue-2',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(12,'queue-3','queue-3',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(13,'queue-4','queue-4',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(14,'retry-1','retry-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(15,'broken-1','broken-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(16,'swap-1','swap-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(17,'swap-2','swap-2',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(18,'offer-1','offer-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(19,'offer-2','offer-2',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(20,'gone-1','gone-1',4,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 1, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(21,'lent-1','lent-1',8,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 2, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(22,'lent-2','lent-2',8,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 2, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,0,'climate: cleared for lease 9ee48aaf-ee29-5811-8540-19f56ac6195b',1);
INSERT INTO "hosts" VALUES(23,'lent-3','lent-3',8,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 2, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(24,'lent-4','lent-4',8,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 2, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
INSERT INTO "hosts" VALUES(25,'lent-5','lent-5',8,16384,100,'QEMU',8002000,'{"arch": "x86_64", "model": "Nehalem", "topology": {"cores": 2, "sockets": 2, "threads": 2}, "vendor": "Intel"}','["COMPUTE_NODE"]',1,1,NULL,0);
CREATE TABLE images (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, server_id TEXT NOT NULL,
        project_id TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'snapshot', status TEXT NOT NULL DEFAULT 'active', key TEXT);
INSERT INTO "images" VALUES('d98b6732-a27f-4a7a-b535-898ea0928a53','asleep-shelved','b081f711-6815-4d32-a5bc-89110c696f47','demo','shelved','active',NULL);
CREATE TABLE moves (
        id INTEGER PRIMARY KEY AUTOINCREMENT, server_id TEXT NOT NULL, kind TEXT NOT NULL,
        status TEXT NOT NULL, source TEXT NOT NULL, target TEXT);
INSERT INTO "moves" VALUES(1,'29139b05-b03b-4ff5-b94a-ac10b863d973','live-migration','completed','lent-1','lent-4');
INSERT INTO "moves" VALUES(2,'7fe24d4a-8c3f-471b-9596-72be3cf86886','live-migration','running','lent-2','gone-1');
CREATE TABLE providers (
        name TEXT PRIMARY KEY, uuid TEXT NOT NULL, parent TEXT NOT NULL,
        inventory TEXT NOT NULL);
INSERT INTO "providers" VALUES('climate_whole-1','b026c4ba-16d4-47ea-9b7d-95a761ab31eb','whole-1','{}');
INSERT INTO "providers" VALUES('climate_whole-2','4ab27825-1c2c-4918-a152-54f610b7b7a9','whole-2','{}');
INSERT INTO "providers" VALUES('climate_whole-3','5591e504-1e5e-4e2f-9c0d-c612a2c1b2c9','whole-3','{}');
INSERT INTO "providers" VALUES('climate_whole-4','8a202c11-cbb7-430b-ad22-1260625452fd','whole-4','{}');
INSERT INTO "providers" VALUES('climate_whole-5','5a779ee0-1394-40da-9658-2e1488c2bdf5','whole-5','{}');
INSERT INTO "providers" VALUES('climate_whole-6','9a5adaba-85c8-4fe8-84a1-cf813abc88d8','whole-6','{}');
INSERT INTO "providers" VALUES('climate_whole-7','95cdf4d6-11ea-406c-b2a1-84f68e4a2862','whole-7','{}');
INSERT INTO "providers" VALUES('climate_room-1','595bcdcd-af24-46ff-b3fe-cf779adc5656','room-1','{"CUSTOM_RESERVATION_0DC10766_3691_427A_9AC7_2B3B43D56B23": {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 1, "step_size": 1}, "CUSTOM_RESERVATION_A4C84744_EE19_4132_AE2E_E38563E009ED": {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 1, "step_size": 1}, "CUSTOM_RESERVATION_231FA71E_9D20_442F_BC77_689F7086B591": {"total": 2, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 2, "step_size": 1}, "CUSTOM_RESERVATION_7A360CF1_7B9E_48C9_9772_DCC7E411095B": {"total": 2, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 2, "step_size": 1}, "CUSTOM_RESERVATION_EE072CBE_FC71_4B66_B0F8_7576CB783BCC": {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 1, "step_size": 1}, "CUSTOM_RESERVATION_87379608_3AF7_460E_885A_A0994FE9594C": {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 1, "step_size": 1}, "CUSTOM_RESERVATION_CD515304_C138_416E_8417_559985D294CD": {"total": 2, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 2, "step_size": 1}}');
INSERT INTO "providers" VALUES('climate_room-2','cffa0e5b-21b6-4869-94eb-5c6b023c5800','room-2','{"CUSTOM_RESERVATION_0DC10766_3691_427A_9AC7_2B3B43D56B23": {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": 1, "step_size": 1}}');
INSERT INTO "providers" VALUES('climate_queue-1','6460ab5d-98dd-48f0-8785-5ca93881d7f9','queue-1','{}');
INSERT INTO "providers" VALUES('climate_queue-2','77e42390-e302-4e92-8cbe-770e7eb0d656','queue-2','{}');
INSERT INTO "providers" VALUES('climate_queue-3','81558259-8829-4745-91be-232491d995bb','queue-3','{}');
INSERT INTO "providers" VALUES('climate_queue-4','711c5ed9-efae-4a09-aaaf-fe40eef4aa60','queue-4','{}');
INSERT INTO "providers" VALUES('climate_retry-1','c40d31cb-66e7-493b-98ce-d7340d21d942','retry-1','{}');
INSERT INTO "providers" VALUES('climate_broken-1','2890b94c-2fe5-421b-9ee5-e9fb23b0f5d9','broken-1','{}');
INSERT INTO "providers" VALUES('climate_swap-1','8170bb2d-1883-418d-9ed3-312ff1e8f34b','swap-1','{}');
INSERT INTO "providers" VALUES('climate_swap-2','b40695cb-fdab-49d9-bde8-eb48aa402015','swap-2','{}');
INSERT INTO "providers" VALUES('climate_offer-1','781e53ec-7b5a-4293-b00a-0da3e559f7e6','offer-1','{}');
INSERT INTO "providers" VALUES('climate_offer-2','e1c7160d-fab4-4079-be8a-2ddc699ea0d7','offer-2','{}');
INSERT INTO "providers" VALUES('climate_gone-1','4d93ebfa-93b9-4f25-9bd5-01d5fc8b465f','gone-1','{}');
INSERT INTO "providers" VALUES('climate_lent-1','967e827b-1c29-4233-b33f-8018b5336aaf','lent-1','{}');
CREATE TABLE resource_classes (name TEXT PRIMARY KEY);
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_0DC10766_3691_427A_9AC7_2B3B43D56B23');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_A4C84744_EE19_4132_AE2E_E38563E009ED');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_231FA71E_9D20_442F_BC77_689F7086B591');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_7A360CF1_7B9E_48C9_9772_DCC7E411095B');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_EE072CBE_FC71_4B66_B0F8_7576CB783BCC');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_87379608_3AF7_460E_885A_A0994FE9594C');
INSERT INTO "resource_classes" VALUES('CUSTOM_RESERVATION_CD515304_C138_416E_8417_559985D294CD');
CREATE TABLE server_groups (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, policy TEXT NOT NULL,
        project_id TEXT NOT NULL);
INSERT INTO "server_groups" VALUES('2f4edd89-6694-4de3-8338-d569079069fd','reservation:0dc10766-3691-427a-9ac7-2b3b43d56b23','anti-affinity','demo');
INSERT INTO "server_groups" VALUES('3bcd273e-99f2-46e7-b993-bf3fc9dc7dcb','reservation:231fa71e-9d20-442f-bc77-689f7086b591','affinity','demo');
INSERT INTO "server_groups" VALUES('d355e402-d2b7-4d73-8d67-81471af7eb9e','reservation:cd515304-c138-416e-8417-559985d294cd','affinity','demo');
CREATE TABLE servers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, host TEXT, project_id TEXT NOT NULL,
        status TEXT NOT NULL, gone_at REAL, flavor_id TEXT, hints TEXT NOT NULL DEFAULT '{}', metadata TEXT NOT NULL DEFAULT '{}', flavor TEXT, task TEXT, task_due REAL, task_about TEXT, locked INTEGER NOT NULL DEFAULT 0, moves_to TEXT);
INSERT INTO "servers" VALUES('29139b05-b03b-4ff5-b94a-ac10b863d973','theirs-1','lent-4','other','ACTIVE',NULL,'1','{}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('7fe24d4a-8c3f-471b-9596-72be3cf86886','theirs-2','lent-2','other','ACTIVE',NULL,'1','{}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}','migrating',1903870892.0,'{"project_id": null}',0,'gone-1');
INSERT INTO "servers" VALUES('7571b752-f883-4b5c-95f0-594d78e927fe','theirs-3','lent-3','other','ACTIVE',NULL,'1','{}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('09b38899-3dc1-4741-a46f-b95fb206b24c','known','lent-5','demo','ACTIVE',NULL,'1','{}','{"climate:lease_id": "10760e73-73af-543b-befe-33e70e7e3d7f", "climate:reservation_id": "d5d5df75-6c0d-4803-b663-d16cb548c23e", "climate:status": "ACTIVE"}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('4261ba65-592a-44c3-8f12-c9a643b6190b','booted','lent-5','demo','ACTIVE',NULL,'1','{"reservation": ["846e6d73-ae06-4a07-a87f-8f655dcf6467"]}','{"climate:lease_id": "a1581ee5-d2cf-58f7-a93b-1c50e592f108", "climate:reservation_id": "846e6d73-ae06-4a07-a87f-8f655dcf6467", "climate:status": "ACTIVE"}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('2be9de9d-6666-4798-b530-c6a6537928c9','mine','whole-1','demo','ACTIVE',NULL,'1','{"reservation": "dde4c99d-4131-46ba-b492-11c89e43ddcd"}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('7b3f64a0-7ce6-4317-81fa-68495ceb423a','mine too','whole-5','demo','ACTIVE',NULL,'1','{"reservation": "01270c42-e862-4b29-9259-ec0c90d1600c"}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('cc0de2d0-3e27-4858-b990-0dfbc802aded','in room 0','room-1','demo','ACTIVE',NULL,'231fa71e-9d20-442f-bc77-689f7086b591','{}','{}','{"id": "231fa71e-9d20-442f-bc77-689f7086b591", "name": "reservation:231fa71e-9d20-442f-bc77-689f7086b591", "vcpus": 1, "ram": 1024, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {"aggregate_instance_extra_specs:reservation": "231fa71e-9d20-442f-bc77-689f7086b591", "resources:CUSTOM_RESERVATION_231FA71E_9D20_442F_BC77_689F7086B591": "1", "affinity_id": "3bcd273e-99f2-46e7-b993-bf3fc9dc7dcb"}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('4d5ee4ab-2051-4e38-92fb-39600b6fd34b','in room 1','room-2','demo','ACTIVE',NULL,'0dc10766-3691-427a-9ac7-2b3b43d56b23','{}','{}','{"id": "0dc10766-3691-427a-9ac7-2b3b43d56b23", "name": "reservation:0dc10766-3691-427a-9ac7-2b3b43d56b23", "vcpus": 1, "ram": 1024, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {"aggregate_instance_extra_specs:reservation": "0dc10766-3691-427a-9ac7-2b3b43d56b23", "resources:CUSTOM_RESERVATION_0DC10766_3691_427A_9AC7_2B3B43D56B23": "1", "affinity_id": "2f4edd89-6694-4de3-8338-d569079069fd"}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('6e0c740f-c682-46f8-9755-496ebfaeff9e','in room 2','room-1','demo','ACTIVE',NULL,'7a360cf1-7b9e-48c9-9772-dcc7e411095b','{}','{}','{"id": "7a360cf1-7b9e-48c9-9772-dcc7e411095b", "name": "reservation:7a360cf1-7b9e-48c9-9772-dcc7e411095b", "vcpus": 1, "ram": 1024, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {"aggregate_instance_extra_specs:reservation": "7a360cf1-7b9e-48c9-9772-dcc7e411095b", "resources:CUSTOM_RESERVATION_7A360CF1_7B9E_48C9_9772_DCC7E411095B": "1"}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('6240dcc5-22fb-4fce-95d5-998e348416fe','in room 3','room-1','demo','ACTIVE',NULL,'cd515304-c138-416e-8417-559985d294cd','{}','{}','{"id": "cd515304-c138-416e-8417-559985d294cd", "name": "reservation:cd515304-c138-416e-8417-559985d294cd", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {"aggregate_instance_extra_specs:reservation": "cd515304-c138-416e-8417-559985d294cd", "resources:CUSTOM_RESERVATION_CD515304_C138_416E_8417_559985D294CD": "1", "affinity_id": "d355e402-d2b7-4d73-8d67-81471af7eb9e"}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('b081f711-6815-4d32-a5bc-89110c696f47','asleep',NULL,'demo','SHELVED_OFFLOADED',NULL,'1','{}','{"climate:lease_id": "378dddc5-9a72-524e-b45d-fb3a52e2e5f1", "climate:reservation_id": "584ad681-4a3c-47b4-9554-4050018cb06e", "climate:status": "RESERVED"}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
INSERT INTO "servers" VALUES('cf11fa11-2951-45c6-888b-af732fe68352','awake','lent-5','demo','ACTIVE',NULL,'1','{}','{}','{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0, "extra_specs": {}}',NULL,NULL,NULL,0,NULL);
CREATE TABLE trusts (
        id TEXT PRIMARY KEY, project_id TEXT NOT NULL, trustor_id TEXT NOT NULL,
        roles TEXT NOT NULL);
INSERT INTO "trusts" VALUES('2aac859579a54f01ae3298f7238a8f6e','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('4b922995ad38482e815cbb178ff9ae6e','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('4a908332eeba4b768278df8b2e33dbca','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('551216c23427479691f75f0c5ffa22f5','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('3543d72b946e4e2cac47655acf66062b','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('5ddbaf053f3c42b0b270827353ed16ef','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('4f2ab977a46d4f858b08185fca008de7','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('cbe0c583507a483db0e6eda845228706','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('5ce868e80c8e4eed862474aa0703c1e7','other','eve','["member", "reader"]');
INSERT INTO "trusts" VALUES('d874c536b6d74b3a83c6492c42da01d0','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('4b1d3aef7dbf43b3b82d7a5cf06d8e72','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('5290655e445046cd9348a234624b0030','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('7465c81436b94f6a8e6314edd13ecf07','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('ce732ceea1634447b706351d88f22c65','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('730aa74741204e3bae070a8d273a2011','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('b8c6de6c0375465cbe8e216c07131cb4','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('4a37982f8a264480bbceff2ff10100f8','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('95628a819c134eb9a895e72daf3e0bcd','other','eve','["member", "reader"]');
INSERT INTO "trusts" VALUES('dd0c705a995a4158995b2f55b90e13a0','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('300c2225a667488685f3ab2f131d4058','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('c9ce357089d34f3f96e4363e27312471','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('72b27ee03d694505962724e2d3f17c9d','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('60cae6d5d0fc46bb9a6d81b72ab0fef6','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('dcb0532ead0e43bc9a857e7e8cc1b6e0','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('5dc9bdea1e0f4f2d977b25e950157b4f','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('b69e5e5f97b64c66809f86c11f149f31','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('546b5b71b44a4b2dadc371f58bb28dc8','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('e7c79b1fffd34f01bf698a5c3dd262c4','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('d51daebd914942a983c75b99066aa6ef','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('b9572737a6bb4b3188bffa015f2e647c','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('d91749c133544a8ba6d5cccf258d688d','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('744856b22920456386ab30c403ae6f1c','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('a788386165a44312b39657bb504607e7','demo','demo','["member", "reader"]');
INSERT INTO "trusts" VALUES('441b53573b364e3da25c4e64d01cd690','demo','demo','["member", "reader"]');
CREATE INDEX servers_host ON servers (host);
CREATE INDEX aggregate_hosts_host ON aggregate_hosts (host);
CREATE INDEX servers_due ON servers (task_due) WHERE task_due IS NOT NULL;
CREATE INDEX moves_server ON moves (server_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('aggregates',24);
INSERT INTO "sqlite_sequence" VALUES('moves',2);
COMMIT;
PRAGMA user_version = 4;
