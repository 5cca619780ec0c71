SET search_path TO mart;

INSERT INTO mart.sales_day (DAY, shop_id, total)
SELECT o.day,
       o.shop_id,
       sum(o.net) AS total
FROM raw.orders o
JOIN raw.shops s ON s.id = o.shop_id
WHERE s.closed IS NULL
  AND o.note <> 'void; see -- below'
GROUP BY o.day,
         o.shop_id;

UPDATE mart.shops
SET region = 'north'
WHERE id IN
    (SELECT shop_id
     FROM raw.regions
     WHERE code = 'N');

DELETE
FROM mart.sales_day
WHERE DAY < '2020-01-01';

WITH late AS
  (SELECT id,
          paid_on - due_on AS days
   FROM raw.invoices
   WHERE paid_on > due_on),
     worst AS
  (SELECT id
   FROM late
   WHERE days > 60)
SELECT c.name,
       count(*) AS n
FROM raw.customers c
JOIN raw.invoices i ON i.customer_id = c.id
JOIN worst w ON w.id = i.id
GROUP BY c.name
ORDER BY n DESC;

CREATE TABLE mart.stock_copy AS
SELECT *
FROM raw.stock
LEFT OUTER JOIN raw.bins ON bins.id = stock.bin_id;

CREATE OR REPLACE VIEW mart.open_orders AS
SELECT id,
       DAY
FROM raw.orders
WHERE state = 'open';

DROP TABLE IF EXISTS mart.old_sales;

SELECT a.id,
       b.id
FROM raw.left_side a,
     raw.right_side b
WHERE a.k = b.k
  AND a.t = 'from raw.fake_table';

INSERT INTO audit.log (what, AT)
VALUES ('nightly; done', now());

SELECT DAY,

  (SELECT max(total)
   FROM mart.sales_day) AS best
FROM mart.calendar
WHERE DAY BETWEEN '2024-01-01' AND '2024-03-31'
UNION ALL
SELECT DAY,
       0
FROM mart.holidays;
